package redfish

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// A system may leave out facts that other resources of its BMC report: its maker, its number of threads, its cards.

// maxProcessors bounds the processors that are read of a machine; a GPU counts as one too.
const maxProcessors = 64

// processors reads the kernel's name for the instruction set of the first processor, and the
// threads of all; "" and 0 where the BMC does not report them. Disabled ones count only where all are.
func (s *session) processors(path string) (architecture string, threads int, err error) {
	all, err := s.members(path)
	if err != nil {
		return "", 0, s.optional("processors", err)
	}
	slices.SortFunc(all, byNumber)
	disabled := 0
	for _, path := range all[:min(len(all), maxProcessors)] {
		var p struct {
			ProcessorType, ProcessorArchitecture, Model string
			InstructionSet                              schemas.InstructionSet
			TotalThreads, TotalCores                    int32
			Status                                      resourceStatus
		}
		if _, err := s.get(path, &p); err != nil {
			if err := s.optional("processors", fmt.Errorf("%s: %w", path, err)); err != nil {
				return "", 0, err
			}
			continue
		}
		if p.Status.absent() || p.ProcessorType != "" && p.ProcessorType != "CPU" {
			continue
		}
		if architecture == "" {
			architecture = architectureOf(p.InstructionSet, p.ProcessorArchitecture+" "+p.Model)
		}
		if n := int(max(p.TotalThreads, p.TotalCores)); p.Status.disabled() {
			disabled += n
		} else {
			threads += n
		}
	}
	return architecture, cmp.Or(threads, disabled), nil
}

// fillGaps completes the system's own description of the machine.
func (s *session) fillGaps(out *node.System, links systemLinks, logical bool, threads int) error {
	if !logical && threads > 0 { // the system counts its sockets alone
		out.CPUs = threads
	}
	if out.Manufacturer == "" && len(links.Links.Chassis) > 0 { // OpenBMC, of NVIDIA GH200
		var c struct{ Manufacturer, SerialNumber string }
		if _, err := s.get(links.Links.Chassis[0].Path, &c); err != nil {
			return s.optional("chassis", err)
		}
		out.Manufacturer = label(c.Manufacturer)
		if out.Serial == "" {
			out.Serial = label(c.SerialNumber)
		}
	}
	var err error
	out.BIOSVersion, err = s.biosVersion(out.BIOSVersion)
	return err
}

// switchable refuses a system that no reset is offered of: a board of accelerators has no power
// button of its own.
func (s *session) switchable(sys *schemas.ComputerSystem) error {
	var has struct {
		Actions struct {
			Reset *struct {
				Target string `json:"target"`
			} `json:"#ComputerSystem.Reset"`
		}
	}
	if err := s.reread(sys, &has); err != nil {
		return err
	}
	if has.Actions.Reset == nil || has.Actions.Reset.Target == "" {
		return node.Refuse(node.Invalid,
			"the BMC cannot switch %s, of which it offers no reset: set redfish_system_id to the "+
				"system of the machine itself", sys.ODataID)
	}
	return nil
}
