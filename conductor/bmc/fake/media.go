package fake

import (
	"context"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// slots are the virtual drives of every machine, with Redfish's names.
var slots = []struct {
	device string
	types  []string
}{{"cdrom", []string{"CD", "DVD"}}, {"disk", []string{"USBStick"}}, {"floppy", []string{"Floppy"}}}

// MediaSlots lists a drive of each kind.
func (d *Driver) MediaSlots(ctx context.Context, n node.Node) (all []node.MediaSlot, err error) {
	err = d.call(ctx, "MediaSlots", n, func(m *machine) {
		for _, s := range slots {
			slot := node.MediaSlot{Types: s.types}
			if image, ok := m.media[s.device]; ok {
				slot.Inserted, slot.Image = true, &image
			}
			all = append(all, slot)
		}
	})
	return all, err
}

// AttachMedium remembers the image.
func (d *Driver) AttachMedium(ctx context.Context, n node.Node, medium node.Medium) error {
	if !slices.Contains(node.MediaDevices(), medium.Device) {
		return node.Refuse(node.Invalid, "No suitable virtual media device found: there is no %s, only %v", medium.Device,
			node.MediaDevices())
	}
	return d.call(ctx, "AttachMedium", n, func(m *machine) { m.media[medium.Device] = medium.Image })
}

// DetachMedia forgets the images of the kinds named, all for none.
func (d *Driver) DetachMedia(ctx context.Context, n node.Node, devices []string) error {
	return d.call(ctx, "DetachMedia", n, func(m *machine) {
		if len(devices) == 0 {
			clear(m.media)
		}
		for _, device := range devices {
			delete(m.media, device)
		}
	})
}
