package plan

import (
	"encoding/json"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

const setBootDevice = "management.set_boot_device"

// BootDeviceArgs is the args of management.set_boot_device.
type BootDeviceArgs struct {
	Device     string `json:"device"`
	Persistent bool   `json:"persistent"`
}

// BootDeviceSet is the result of management.set_boot_device, and the event of an operator's choice of a device outside
// of runs. Once marks a persistent request that the BMC accepted for the next boot only.
type BootDeviceSet struct {
	simple
	Device string `json:"device,omitempty"`
	Once   bool   `json:"once,omitempty"`
}

func (s BootDeviceSet) handle(d *decision) error {
	d.keepBootDevice(s)
	return nil
}

// onceDevice is the key in driver_internal_info for a device to set again before each start of the machine, as in
// Ironic.
const onceDevice = "redfish_boot_device"

// OnceDevice is the device to set before each start of the machine; "" for none.
func OnceDevice(n node.Node) string { return text(n.DriverInternalInfo, onceDevice) }

// keepBootDevice remembers a device that a BMC keeps for one boot only, and forgets the previous one: the latest choice
// holds.
func (d *decision) keepBootDevice(s BootDeviceSet) {
	switch was := OnceDevice(d.n); {
	case s.Once && s.Device != was:
		d.setInternal(onceDevice, s.Device)
	case !s.Once && was != "":
		delete(d.n.DriverInternalInfo, onceDevice)
		d.dirty = true
	}
}

func (d *decision) setInternal(key string, value any) {
	if d.n.DriverInternalInfo == nil {
		d.n.DriverInternalInfo = map[string]any{}
	}
	d.n.DriverInternalInfo[key], d.dirty = value, true
}

func bootDeviceSet(d *decision, s BootDeviceSet) error {
	d.keepBootDevice(s)
	if s.Once {
		d.note("INFO", "the BMC takes the boot device "+s.Device+" for one boot only: it is set again before each start")
	}
	return nil
}

// bootDeviceRefused continues a deploy although the BMC refuses the disk as boot device, if the machine boots from it
// anyway: the agent has made a boot entry for it, which comes first.
func bootDeviceRefused(d *decision, o Outcome) bool {
	var a BootDeviceArgs
	if json.Unmarshal(o.Effect.Args, &a) != nil || a.Device != "disk" || !a.Persistent || !d.madeBootEntry() {
		return false
	}
	d.note("WARNING", Clip("the BMC does not take disk as the boot device; the machine boots by the entry that the agent "+
		"has put first: "+o.Failure))
	d.keepBootDevice(BootDeviceSet{})
	d.next()
	return true
}

// madeBootEntry reports whether the run has had the agent make a UEFI boot entry.
func (d *decision) madeBootEntry() bool {
	r := d.n.Run
	return r != nil && r.Index <= len(r.Steps) && BootModeOf(d.n) == "uefi" &&
		slices.ContainsFunc(r.Steps[:r.Index], func(s node.Step) bool { return own(s) && s.String() == installBootloader })
}
