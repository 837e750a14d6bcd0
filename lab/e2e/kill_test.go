package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// killed ends the conductor with kill -9 three times: while the cleaning
// ramdisk boots, while a step is given to the agent, and while the image is
// written. Each time the node reaches its goal all the same.
func killed(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.BIOS)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m := s.Machines[0]
	if _, err := s.Enroll(ctx, m, nil); err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	if _, err := s.Ask(ctx, m.Name, "manage", "manageable"); err != nil {
		return fmt.Errorf("manage: %w", err)
	}
	if err := s.Provision(ctx, m.Name, "provide", nil); err != nil {
		return fmt.Errorf("provide: %w", err)
	}
	booting := func(st nodeapi.Status) bool { return st.State == "clean wait" && st.Step == "agent.wait_for_heartbeat" }
	if err := killWhen(ctx, s, m, "cleaning, while the ramdisk boots", booting); err != nil {
		return err
	}
	stepping := func(st nodeapi.Status) bool { return st.Step == "deploy.erase_devices_metadata" }
	if err := killWhen(ctx, s, m, "cleaning, in the middle of a step", stepping); err != nil {
		return err
	}
	if _, err := s.Until(ctx, m.Name, "available"); err != nil {
		return fmt.Errorf("cleaning after two kills: %w", err)
	}
	return killedWriting(ctx, b, s, m)
}

// killedWriting kills while a slow server makes the writing last.
func killedWriting(ctx context.Context, b *bed, s *site.Site, m *lab.Machine) error {
	img := image(s, b.tiny, b.tiny.RawZst)
	file := "first/" + filepath.Base(b.tiny.RawZst)
	if err := s.Images.SetFault(file, lab.ImageFault{Kind: lab.ImageSlow, Rate: 3 << 20}); err != nil {
		return err
	}
	asked := time.Now()
	if err := s.SetImage(ctx, m.Name, img); err != nil {
		return err
	}
	if err := s.Provision(ctx, m.Name, "active", drive(s, "survivor")); err != nil {
		return fmt.Errorf("deploy: %w", err)
	}
	if err := killWhen(ctx, s, m, "writing", writing); err != nil {
		return err
	}
	return booted(ctx, s, m, "first", "survivor", asked)
}

// killWhen kills the conductor at a moment, leaves it dead for a second, and
// starts it again.
func killWhen(ctx context.Context, s *site.Site, m *lab.Machine, when string, come func(nodeapi.Status) bool) error {
	if err := moment(ctx, s, m.Name, come); err != nil {
		return fmt.Errorf("kill while %s: %w", when, err)
	}
	if err := s.Conductor.Kill(); err != nil {
		return fmt.Errorf("kill while %s: %w", when, err)
	}
	time.Sleep(time.Second)
	if err := s.StartConductor(ctx); err != nil {
		return fmt.Errorf("start after a kill while %s: %w", when, err)
	}
	return nil
}
