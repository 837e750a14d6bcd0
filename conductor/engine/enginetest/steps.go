package enginetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Steps of the world's BMCs: settings that need a reboot, and an update that
// takes its time.
func (w *World) Steps(node.Node) []node.StepOffer {
	byRequest := map[node.Framework]int{node.CleanSteps: 0, node.DeploySteps: 0, node.ServiceSteps: 0}
	args := map[string]node.StepArg{"settings": {}}
	return []node.StepOffer{
		{Interface: "bios", Step: "apply_configuration", Priority: byRequest, NeedsNoRamdisk: true, Args: args},
		{Interface: "firmware", Step: "update", Priority: byRequest, NeedsNoRamdisk: true, Args: args},
	}
}

// hang decides whether a step never ends.
func (w *World) hang() bool {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.Hangs > 0 && w.Rng.Float64() < w.Hangs
}

// DoStep may be given a step again after its answer was lost.
func (w *World) DoStep(ctx context.Context, n node.Node, s node.Step, task string) (r node.StepReport, err error) {
	err = w.toBMC(ctx, n, func(m *Machine) {
		switch s.Step {
		case "apply_configuration":
			want := fmt.Sprint(s.Args["settings"])
			if m.bios == want {
				r.Done = true
				return
			}
			m.pending = want
			r = node.StepReport{Reboot: true, Task: "pending"}
		case "update":
			if task == "" {
				m.updating, m.chatting = 5, w.Hangs > 0 && w.Rng.Float64() < w.Hangs
			}
			if m.updating--; m.chatting {
				r = node.StepReport{Task: "update", After: 15 * time.Second, Note: fmt.Sprintf("%d polls", -m.updating)}
				return
			}
			r = node.StepReport{Done: m.updating <= 0, Task: "update", After: time.Second,
				Note: fmt.Sprintf("%d polls to go", m.updating)}
		}
	})
	return r, err
}

// ReportHardware reports the settings that steps set.
func (w *World) ReportHardware(ctx context.Context, n node.Node) (report node.HardwareReport, err error) {
	err = w.toBMC(ctx, n, func(m *Machine) {
		report.BIOS = []node.BIOSSetting{{Name: "settings", Value: &m.bios}}
	})
	return report, err
}

// MediaSlots are a CD drive and one for USB sticks.
func (w *World) MediaSlots(ctx context.Context, n node.Node) (slots []node.MediaSlot, err error) {
	err = w.toBMC(ctx, n, func(m *Machine) {
		slots = []node.MediaSlot{{Types: []string{"CD"}, Inserted: m.Medium != ""},
			{Types: []string{"USBStick"}, Inserted: m.Stick != ""}}
	})
	return slots, err
}

// AttachMedium inserts a medium.
func (w *World) AttachMedium(ctx context.Context, n node.Node, medium node.Medium) error {
	return w.toBMC(ctx, n, func(m *Machine) {
		if medium.Device == "disk" {
			m.Stick = medium.Image
			return
		}
		m.Medium = medium.Image
		m.Inserted++
	})
}

// DetachMedia empties the CD drive, and the other one if it is named.
func (w *World) DetachMedia(ctx context.Context, n node.Node, devices []string) error {
	return w.toBMC(ctx, n, func(m *Machine) {
		m.Medium = ""
		if slices.Contains(devices, "disk") {
			m.Stick = ""
		}
	})
}

// NoSum has the form of a SHA-256.
const NoSum = "0000000000000000000000000000000000000000000000000000000000000000"
