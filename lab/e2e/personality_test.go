package e2e

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish"
)

// behind deploys a machine behind a BMC of a personality. Each activity and the installed system take a start of the
// firmware, so that the machine boots as the BMC was asked.
func behind(name string) func(ctx context.Context, b *bed) error {
	return func(ctx context.Context, b *bed) (err error) {
		if b.personality, err = redfish.FindPersonality(name); err != nil {
			return err
		}
		s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.UEFI)}, "--fast-track=false", "--kexec", "never")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, done()) }()
		m := s.Machines[0]
		if _, err := readied(ctx, s, m, true); err != nil {
			return err
		}
		b.lap("available")
		if err := deploy(ctx, s, m, image(s, b.tiny, b.tiny.Raw), "first", "host-one"); err != nil {
			return err
		}
		b.lap("booted")
		if _, err := s.Ask(ctx, m.Name, "deleted", "available"); err != nil {
			return fmt.Errorf("undeploy: %w", err)
		}
		b.lap("cleaned again")
		return nil
	}
}
