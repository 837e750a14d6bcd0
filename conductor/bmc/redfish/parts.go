package redfish

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/placeholder"
)

// Bounds on the parts of a machine. Large servers have 32 modules, 36 drives, and 150 PCI devices.
const (
	maxParts = 512             // of a kind
	maxNames = 100             // of parts that were not read
	slowPart = 2 * time.Minute // for the reading of one kind, so that a slow BMC does not lose the others
)

// partLinks are the links of a system to its parts.
type partLinks struct {
	Manufacturer                                                   string
	Processors, Memory, Storage, SimpleStorage, EthernetInterfaces reference
	PCIeDevices                                                    []reference
	Boot                                                           struct{ BootOptions reference }
	Links                                                          struct{ Chassis []reference }
	Oem                                                            struct {
		Hpe struct {
			Links struct{ SmartStorage reference }
		}
	}
}

// parts is one reading of them.
type parts struct {
	*session
	links   partLinks
	out     node.Parts
	within  time.Duration     // for each kind
	brief   bool              // cards are wanted for their addresses alone
	burntIn map[string]string // cards' addresses in use, by those that are not
	until   time.Time         // the end of the time for the kind that is read
	now     func() time.Time
}

// begin starts the time for a kind.
func (p *parts) begin() { p.until = p.now().Add(p.within) }

// partReaders are in the order of their worth: a slow BMC may leave no time for the last ones.
var partReaders = []struct {
	kind string
	read func(p *parts) error
}{
	{"network cards", (*parts).readCards},
	{"disks", (*parts).readDisks},
	{"processors", (*parts).readProcessors},
	{"memory modules", (*parts).readMemory},
	{"PCI devices", (*parts).readPCI},
}

// Parts reads the parts of the machine. A kind that the BMC lacks, or cannot show, is left out and named.
func (d *Driver) Parts(ctx context.Context, n node.Node) (out node.Parts, err error) {
	err = d.call(ctx, n, "read the parts of the machine", func(s *session) error {
		sys, err := s.read()
		if err != nil {
			return err
		}
		p := &parts{session: s, now: time.Now, within: slowPart}
		if err := s.reread(sys, &p.links); err != nil {
			p.missed("links", err)
		}
		for _, r := range partReaders {
			p.begin()
			if err := r.read(p); err != nil {
				p.missed(r.kind, err)
				if err := s.optional(r.kind, err); err != nil {
					return err
				}
			}
		}
		out = p.out
		return nil
	})
	if err != nil {
		return node.Parts{}, err
	}
	return out, nil
}

// missed notes a part that could not be read, and the reason.
func (p *parts) missed(kind string, err error) {
	if len(p.out.Incomplete) < maxNames {
		p.out.Incomplete = append(p.out.Incomplete, kind+": "+describe(err).Error())
	}
}

// each reads the resources of a kind at the paths, and gives each to take. A resource that is missing, or of another
// form, is passed over and noted. The time for the kind ends it.
func each[T any](p *parts, kind string, all []string, take func(path string, doc T)) error {
	slices.SortFunc(all, byNumber)
	for _, path := range all[:min(len(all), maxParts)] {
		if p.now().After(p.until) {
			p.missed(kind, fmt.Errorf("the BMC is too slow to list all %d within %s", len(all), p.within))
			return nil
		}
		var doc T
		if _, err := p.get(path, &doc); err != nil {
			p.missed(kind, fmt.Errorf("%s: %w", label(path), err))
			if err := p.optional(kind, err); err != nil {
				return err
			}
			continue
		}
		take(path, doc)
	}
	return nil
}

// resourceStatus is Status of a resource. An empty slot has one, too.
type resourceStatus struct{ State, Health, HealthRollup string }

func (s resourceStatus) absent() bool { return s.State == "Absent" }

// disabled reports a part that is there and that the machine does without, as of its firmware's settings or since it
// failed. A machine that is off has StandbyOffline.
func (s resourceStatus) disabled() bool { return s.State == "Disabled" }

// tidy is a text on one line without spaces at its ends, with which some BMCs fill up to a length; "" for a
// placeholder. A number is no placeholder: 0 is the Id of the first part.
func tidy(said string) string {
	text := label(strings.Join(strings.Fields(said), " "))
	if placeholder.Text(text) == "" && !numbered(text) {
		return ""
	}
	return text
}

// unique is a name that no other part has: inventories are keyed by it.
func unique(name string, has func(string) bool) string {
	out := name
	for i := 2; has(out); i++ {
		out = fmt.Sprintf("%s-%d", name, i)
	}
	return out
}
