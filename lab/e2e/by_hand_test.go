package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// cleanedByHand cleans a machine by steps of all sides: the child node's, the BMC's with a reboot each, the agent's
// before and after a reboot, a wait. Then a wait is aborted, and an unknown step is requested.
func cleanedByHand(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.BIOS), machine("metal-2", qemu.BIOS)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m, child := s.Machines[0], s.Machines[1]
	parent, err := s.Enroll(ctx, m, nil)
	if err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	if _, err := s.Enroll(ctx, child, map[string]any{"parent_node": parent.UUID}); err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	if err := b.commands(ctx, s, "node manage metal-1 metal-2 --wait"); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		run  func(context.Context, *bed, *site.Site, *lab.Machine) error
	}{
		{"all kinds of steps", allSteps},
		{"an aborted wait", abortedWait},
		{"a step nobody has", unknownStep},
	} {
		if err := part.run(ctx, b, s, m); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if n, err := s.Node(ctx, child.Name); err != nil || n.PowerState != "power on" || n.ProvisionState != "manageable" {
		return errors.Join(fmt.Errorf("the child node is %q in state %q, expected power on, manageable", n.PowerState,
			n.ProvisionState), err)
	}
	return nil
}

func allSteps(ctx context.Context, b *bed, s *site.Site, m *lab.Machine) error {
	if err := b.makeFirmware(); err != nil {
		return err
	}
	if err := install(b.tiny.Raw, m); err != nil {
		return err
	}
	steps, err := b.steps("clean", fmt.Sprintf(`
- {interface: power, step: power_on, execute_on_child_nodes: true}
- interface: bios
  step: apply_configuration
  args: {settings: [{name: LogicalProc, value: Disabled}]}
- {interface: power, step: reboot}
- {interface: deploy, step: wait, args: {seconds: 1}}
- {interface: deploy, step: erase_devices_metadata}
- interface: firmware
  step: update
  args: {settings: [{component: bios, url: "%s/firmware/bios.json"}]}
`, s.ImagesURL))
	if err != nil {
		return err
	}
	if err := b.commands(ctx, s, "node clean metal-1 --wait --steps "+steps); err != nil {
		return err
	}
	if err := bootsNothing(m); err != nil {
		return err
	}
	if err := boards(ctx, s, m); err != nil {
		return err
	}
	boots := map[int]bool{}
	for _, line := range m.Console() {
		if strings.Contains(line.Text, "Ferrite: booting the ramdisk") {
			boots[line.Start] = true
		}
	}
	if len(boots) != 4 { // the first, and one each for settings, reboot and firmware
		return fmt.Errorf("the machine has booted the ramdisk %d times, expected 4", len(boots))
	}
	return nil
}

// makeFirmware makes an image the lab's controllers take.
func (b *bed) makeFirmware() error {
	dir := filepath.Join(b.images, "firmware")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "bios.json"), []byte(`{"Component": "BIOS", "Version": "2.0"}`), 0o644)
}

// boards asks the machine's controller whether the steps have done their work.
func boards(ctx context.Context, s *site.Site, m *lab.Machine) error {
	var system struct{ BiosVersion string }
	var bios struct{ Attributes map[string]any }
	if err := ofBMC(ctx, s, m, "/redfish/v1/Systems/1", &system); err != nil {
		return err
	}
	if err := ofBMC(ctx, s, m, "/redfish/v1/Systems/1/Bios", &bios); err != nil {
		return err
	}
	if system.BiosVersion != "2.0" || bios.Attributes["LogicalProc"] != "Disabled" {
		return fmt.Errorf("the BMC has BIOS %q with LogicalProc %v, expected 2.0 and Disabled", system.BiosVersion,
			bios.Attributes["LogicalProc"])
	}
	return nil
}

// ofBMC reads a resource of a machine's controller.
func ofBMC(ctx context.Context, s *site.Site, m *lab.Machine, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, m.URL+path, nil)
	if err != nil {
		return err
	}
	r.SetBasicAuth(m.Username, m.Password)
	res, err := s.HTTPClient().Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s of the BMC: %s", path, res.Status)
	}
	return json.NewDecoder(res.Body).Decode(into)
}

// abortedWait needs no ramdisk, and so no boot.
func abortedWait(ctx context.Context, b *bed, s *site.Site, m *lab.Machine) error {
	if err := b.commands(ctx, s, `node clean metal-1 --step deploy.wait:{"seconds":30} --disable-ramdisk`,
		"node abort metal-1"); err != nil {
		return err
	}
	n, err := s.Until(ctx, m.Name, "clean failed")
	if err != nil {
		return err
	}
	if !strings.Contains(n.LastError, "aborted by request") || n.Maintenance {
		return fmt.Errorf("maintenance %v, last_error %q", n.Maintenance, n.LastError)
	}
	return b.commands(ctx, s, "node manage metal-1 --wait")
}

// unknownStep is refused at once: the agent has listed its steps before.
func unknownStep(ctx context.Context, b *bed, s *site.Site, m *lab.Machine) error {
	err := b.commands(ctx, s, "node clean metal-1 --step deploy.polish")
	switch {
	case err == nil:
		return errors.New("a step that nobody has is accepted")
	case !strings.Contains(err.Error(), "no clean step deploy.polish"):
		return fmt.Errorf("a step that nobody has is refused in other words: %w", err)
	}
	_, err = s.Until(ctx, m.Name, "manageable")
	return err
}
