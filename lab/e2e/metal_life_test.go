package e2e

import (
	"context"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/osimage"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// metalHost is the hostname in the config drive for the OS.
const metalHost = "host-one"

// metalLife is the life of a machine of the matrix, part by part. No state is taken for proof of any: see proof.go.
type metalLife struct {
	spec       qemu.Spec
	properties map[string]any // of the node
	image      osimage.Image
	file       string // of the image, in the format to be written
	disk       int    // which is to hold it
}

// inspect wants the inspection of a machine to find its hardware.
func (l metalLife) inspect(ctx context.Context, _ *bed, s *site.Site, m *lab.Machine) error {
	// Content that must be gone later: firmware and ramdisk cannot read it.
	for _, d := range m.Spec().Disks {
		if err := fill(d); err != nil {
			return err
		}
	}
	more := map[string]any{}
	if l.properties != nil {
		more["properties"] = l.properties
	}
	if _, err := s.Enroll(ctx, m, more); err != nil {
		return err
	}
	if _, err := s.Ask(ctx, m.Name, "manage", "manageable"); err != nil {
		return err
	}
	if _, err := s.Ask(ctx, m.Name, "inspect", "manageable"); err != nil {
		return err
	}
	return found(ctx, s, m)
}

// erase wants every disk erased, as their files show and the signed report says.
func (metalLife) erase(ctx context.Context, b *bed, s *site.Site, m *lab.Machine) error {
	if err := b.commands(ctx, s, "node clean "+m.Name+" --wait --step deploy.erase_devices"); err != nil {
		return err
	}
	if err := gone(m); err != nil {
		return err
	}
	return testified(ctx, b.name, s, m)
}

// clean brings the machine to available by automated cleaning.
func (metalLife) clean(ctx context.Context, _ *bed, s *site.Site, m *lab.Machine) error {
	_, err := s.Ask(ctx, m.Name, "provide", "available")
	return err
}

// deploy wants the image on its disk, and no other disk touched.
func (l metalLife) deploy(ctx context.Context, _ *bed, s *site.Site, m *lab.Machine) error {
	if err := begin(ctx, s, m, image(s, l.image, l.file), metalHost); err != nil {
		return err
	}
	if _, err := s.Until(ctx, m.Name, "active"); err != nil {
		return err
	}
	for i, d := range m.Spec().Disks {
		if i == l.disk {
			if err := holds(d, l.image.Raw); err != nil {
				return err
			}
		} else if err := blank(d); err != nil {
			return err
		}
	}
	return nil
}

// boot wants the OS of the image to report, under the hostname of its config drive.
func (l metalLife) boot(ctx context.Context, _ *bed, s *site.Site, m *lab.Machine) error {
	return booted(ctx, s, m, l.image.ID, metalHost, time.Time{})
}
