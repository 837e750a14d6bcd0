package e2e

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// serviced changes an active machine by steps: an operator looks at it while it is
// held, and lets it go on; then another image is written, and the machine comes back
// into it. A step that erases is refused before anything happens.
func serviced(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.BIOS)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m := s.Machines[0]
	if err := b.adopted(ctx, s, m, nil); err != nil {
		return err
	}
	img := image(s, b.other, b.other.RawZst)
	steps, err := b.steps("service", fmt.Sprintf(`
- {interface: deploy, step: hold}
- interface: deploy
  step: write_image
  args: {image_info: {id: other, urls: ["%s"], os_hash_algo: sha256, os_hash_value: %s}}
`, img.URL, img.SHA256))
	if err != nil {
		return err
	}
	if b.commands(ctx, s, "node service "+m.Name+" --step deploy.erase_devices_metadata") == nil {
		return errors.New("a service step that erases was taken")
	}
	if err := b.commands(ctx, s, "node service "+m.Name+" --steps "+steps); err != nil {
		return err
	}
	if _, err := s.Until(ctx, m.Name, "service hold"); err != nil {
		return err
	}
	ramdisk := starts(m)
	if err := b.commands(ctx, s, "node unhold "+m.Name); err != nil {
		return err
	}
	if _, err := s.Until(ctx, m.Name, "active"); err != nil {
		return err
	}
	return osIsUp(ctx, m, ramdisk)
}
