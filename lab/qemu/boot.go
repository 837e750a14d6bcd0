package qemu

import "fmt"

// Target is a boot source, by its name in Redfish (ComputerSystem, Boot).
type Target string

// The boot sources that a machine here can prefer.
const (
	TargetNone     Target = "None"
	TargetPxe      Target = "Pxe"
	TargetHdd      Target = "Hdd"
	TargetCd       Target = "Cd"
	TargetUefiHTTP Target = "UefiHttp"
)

// Enabled is how long an override holds, by its name in Redfish.
type Enabled string

// The lifetimes of an override.
const (
	Disabled   Enabled = "Disabled"
	Once       Enabled = "Once"
	Continuous Enabled = "Continuous"
)

// Boot decides the next start: the override, and the firmware to run.
type Boot struct {
	Target   Target
	Enabled  Enabled
	Firmware Firmware
}

// after returns b after a start has used it: an override for once is spent, as on real boards, with its target.
func (b Boot) after() Boot {
	if b.Enabled == Once {
		b.Target, b.Enabled = TargetNone, Disabled
	}
	return b
}

// effective is the target this start prefers.
func (b Boot) effective() Target {
	if b.Enabled == Disabled {
		return TargetNone
	}
	return b.Target
}

// Validate reports a value or a combination no start could follow.
func (b Boot) Validate() error {
	switch b.Target {
	case TargetNone, TargetPxe, TargetHdd, TargetCd:
	case TargetUefiHTTP:
		if b.Firmware == BIOS {
			return fmt.Errorf("boot target %s: expected uefi firmware, found bios", b.Target)
		}
	default:
		return fmt.Errorf("boot target %q is not known", b.Target)
	}
	if b.Enabled != Disabled && b.Enabled != Once && b.Enabled != Continuous {
		return fmt.Errorf("boot override %q: expected Disabled, Once or Continuous", b.Enabled)
	}
	if b.Firmware != UEFI && b.Firmware != BIOS {
		return fmt.Errorf("firmware %q: expected uefi or bios", b.Firmware)
	}
	return nil
}

// Start is one start of a machine, as data: its command line follows from it.
type Start struct {
	Firmware Firmware
	// Order lists device ids (disk0, nic0, cd0), the first to try first.
	Order []string
	// HTTP asks UEFI firmware for HTTP boot instead of PXE.
	HTTP bool
	// Media is the image in the CD drive; empty is an empty drive.
	Media string
}

// planStart computes the next start. An override moves its kind of device to the front. The rest keep the default order
// behind it, so that firmware falls through as it does on real boards. The default is disks, then network, then the CD
// drive: a blank disk falls through at once, and a written disk boots.
func planStart(spec Spec, boot Boot, media string) Start {
	target := boot.effective()
	start := Start{
		Firmware: boot.Firmware,
		HTTP:     boot.Firmware == UEFI && (spec.HTTPBoot || target == TargetUefiHTTP),
		Media:    media,
	}
	kinds := map[Target][]string{
		TargetHdd: ids("disk", len(spec.Disks)),
		TargetPxe: ids("nic", len(spec.NICs)),
	}
	if media != "" { // an empty drive is not worth a firmware's time
		kinds[TargetCd] = []string{cdID}
	}
	first := target
	if first == TargetUefiHTTP {
		first = TargetPxe
	}
	start.Order = append(start.Order, kinds[first]...)
	for _, kind := range []Target{TargetHdd, TargetPxe, TargetCd} {
		if kind != first {
			start.Order = append(start.Order, kinds[kind]...)
		}
	}
	return start
}

// cdID is the CD drive's device id.
const cdID = "cd0"

// ids are the device ids of n devices of a kind.
func ids(kind string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s%d", kind, i)
	}
	return list
}
