package redfish

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
)

// read gets the system a call is about, finding it first when it is the only
// one and none is named. A system that is gone is found again: new
// firmware of a BMC may number its systems anew.
func (s *session) read() (*schemas.ComputerSystem, error) {
	if *s.system != "" {
		sys, err := s.systemAt(*s.system)
		gone := status(err) == http.StatusNotFound || status(err) == http.StatusGone
		if gone && s.chosen {
			return nil, driverinfo.Wrong("redfish_system_id", "is %s, which the BMC does not have (%v)", *s.system,
				describe(err))
		}
		if !gone {
			return sys, err
		}
		*s.system = ""
	}
	root, err := s.root()
	if err != nil {
		return nil, noServiceRoot(err)
	}
	all, err := s.members(root.Systems.Path)
	if err != nil {
		return nil, fmt.Errorf("list the systems: %w", err)
	}
	if len(all) == 0 {
		return nil, broken("the BMC lists no system: it may be the manager of a chassis, or be starting; look at %s",
			root.Systems.Path)
	}
	if len(all) != 1 {
		slices.SortFunc(all, byNumber)
		return nil, driverinfo.Wrong("redfish_system_id", "is missing, and the BMC has %d systems: choose from %s", len(all),
			strings.Join(all[:min(len(all), 20)], ", "))
	}
	sys, err := s.systemAt(all[0])
	if err != nil {
		return nil, fmt.Errorf("read %s, the only system that the BMC lists: %w", all[0], err)
	}
	*s.system = all[0]
	return sys, nil
}

// systemAt reads the system at a path, which is where changes of it go.
func (s *session) systemAt(path string) (*schemas.ComputerSystem, error) {
	if err := checkLink(path); err != nil {
		return nil, err
	}
	s.wire.expect(reflect.TypeFor[schemas.ComputerSystem]())
	sys, err := schemas.GetComputerSystem(s.client, path)
	if err == nil && strings.TrimRight(sys.ODataID, "/") != strings.TrimRight(path, "/") {
		sys.ODataID = path // not every BMC has it, or has it right
	}
	return sys, err
}

// reread decodes the document of a system into another type than gofish's.
func (s *session) reread(sys *schemas.ComputerSystem, v any) error {
	if json.Unmarshal(sys.RawData, v) == nil {
		return nil
	}
	reflect.ValueOf(v).Elem().SetZero()
	end, err := exchange.Turn(s.ctx, len(sys.RawData))
	if err != nil {
		return err
	}
	defer end()
	body, odd, err := mend(s.ctx, sys.ODataID, sys.RawData, reflect.TypeOf(v).Elem())
	if err != nil {
		return err
	}
	s.wire.odd.note(odd...)
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("read %s: %w", sys.ODataID, err)
	}
	return nil
}

// System reads the BMC's description of the machine.
func (d *Driver) System(ctx context.Context, n node.Node) (out node.System, err error) {
	err = d.call(ctx, n, "read the system", func(s *session) error {
		sys, err := s.read()
		if err != nil {
			return err
		}
		out = basics(sys)
		if n.Interfaces["inspect"] == "idrac-redfish" {
			out.Serial = cmp.Or(serviceTag(sys), out.Serial)
		}
		var links systemLinks
		if err := s.reread(sys, &links); err != nil {
			return err
		}
		var threads int
		if out.Architecture, threads, err = s.processors(links.Processors.Path); err != nil {
			return err
		}
		out.Architecture = cmp.Or(out.Architecture, architectureOf("", label(sys.ProcessorSummary.Model)))
		if out.MACs, err = s.addresses(sys); err != nil {
			return err
		}
		return s.fillGaps(&out, links, sys.ProcessorSummary.LogicalProcessorCount != nil, threads)
	})
	if err != nil {
		return node.System{}, err
	}
	return out, nil
}

// serviceTag is the number by which Dell knows a machine, and which its DMI has as the serial number. SerialNumber of
// its Redfish is the number of the board (Ironic, drac/inspect.py).
func serviceTag(sys *schemas.ComputerSystem) string { return label(sys.SKU) }

// SystemUUID reads the UUID of the machine; "" when the BMC has none.
func (d *Driver) SystemUUID(ctx context.Context, n node.Node) (uuid string, err error) {
	err = d.call(ctx, n, "read the system's UUID", func(s *session) error {
		sys, err := s.read()
		if err == nil {
			uuid = strings.ToLower(label(sys.UUID))
		}
		return err
	})
	return uuid, err
}

func basics(sys *schemas.ComputerSystem) node.System {
	out := node.System{
		UUID: strings.ToLower(label(sys.UUID)), Manufacturer: label(sys.Manufacturer), Model: label(sys.Model),
		Serial: label(sys.SerialNumber), BIOSVersion: label(sys.BiosVersion), BootMode: modeOf(sys),
	}
	if gib := sys.MemorySummary.TotalSystemMemoryGiB; gib != nil {
		out.MemoryMB = int64(*gib * 1024)
	}
	switch p := sys.ProcessorSummary; {
	case p.LogicalProcessorCount != nil:
		out.CPUs = int(*p.LogicalProcessorCount)
	case p.Count != nil:
		out.CPUs = int(*p.Count)
	}
	return out
}

// byNumber orders paths as a person would, 2 before 10: gofish reads the
// members of a collection in any order.
func byNumber(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// optional lets a BMC lack a resource, or have a resource that it cannot show: a missing part is no reason to fail the
// whole.
func (s *session) optional(what string, err error) error {
	if isWire(err) || status(err) == http.StatusUnauthorized {
		return fmt.Errorf("list the %s: %w", what, err)
	}
	if d, ok := errors.AsType[*documentError](err); ok {
		s.wire.odd.note(Oddity{Path: d.path, Kind: "no document", Done: "left out"})
	}
	s.log.Warn("the BMC does not report a part of the machine", "part", what, "err", describe(err))
	return nil
}
