package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// siteStepsPage has the step that is packed into the ramdisk.
const siteStepsPage = "../../docs/operate/site-steps.md"

// siteRamdisk builds a ramdisk that trusts an authority and has the documented site
// step, as an operator does.
func (b *bed) siteRamdisk(ctx context.Context, by *certtest.Authority) (kernel, initrd string, err error) {
	roots, out := filepath.Join(b.dir, rootsFile), filepath.Join(b.dir, "ramdisk")
	if err := writeRoots(roots, by); err != nil {
		return "", "", err
	}
	manifest, err := b.documentedStep(ctx)
	if err != nil {
		return "", "", fmt.Errorf("documented step: %w", err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(b.bin, "ferrite"), "ramdisk", "build", "--profile", profileLab,
		"--agent", filepath.Join(b.bin, "ferrite-agent"), "--ca", roots, "--step", manifest, "--out", out)
	cmd.Dir = "../.." // of the sources: console commands may have to be built
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("ferrite ramdisk build: %w: %s", err, text)
	}
	return filepath.Join(out, profileLab+".vmlinuz"), filepath.Join(out, profileLab+".initramfs"), nil
}

// documentedStep builds the step of the page, and returns its manifest.
func (b *bed) documentedStep(ctx context.Context) (manifest string, err error) {
	page, err := os.ReadFile(siteStepsPage)
	if err != nil {
		return "", err
	}
	program, manifest := filepath.Join(b.dir, "readable"), filepath.Join(b.dir, "readable.json")
	for language, file := range map[string]string{"go": program + ".go", "json": manifest} {
		_, rest, _ := strings.Cut(string(page), "\n```"+language+"\n")
		text, _, found := strings.Cut(rest, "\n```\n")
		if !found {
			return "", fmt.Errorf("%s has no block of %s", siteStepsPage, language)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", program, program+".go")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, text)
	}
	return manifest, nil
}

// siteStep runs the documented step on an available machine, which is available again afterwards. A step that its agent
// has not listed is refused.
func (b *bed) siteStep(ctx context.Context, s *site.Site, m *lab.Machine) error {
	listed, err := b.ferrite(ctx, s, "node", "steps", m.Name)
	if err != nil {
		return err
	}
	if !strings.Contains(listed, "readable") {
		return fmt.Errorf("node steps lists no deploy.readable:\n%s", listed)
	}
	steps, err := b.steps("site", `
- interface: deploy
  step: readable
  args: {device: /dev/sda, mib: 4}
`)
	if err != nil {
		return err
	}
	if err := b.commands(ctx, s, "node manage "+m.Name+" --wait"); err != nil {
		return err
	}
	if b.commands(ctx, s, "node clean "+m.Name+" --step deploy.unreadable") == nil {
		return fmt.Errorf("a step that the agent has not listed was taken")
	}
	if err := b.commands(ctx, s, "node clean "+m.Name+" --steps "+steps+" --wait"); err != nil {
		return err
	}
	logs, err := b.ferrite(ctx, s, "node", "logs", m.Name)
	if err != nil {
		return err
	}
	if !strings.Contains(logs, "reading /dev/sda") {
		return fmt.Errorf("the machine's log has no line of the step")
	}
	return b.commands(ctx, s, "node provide "+m.Name+" --wait")
}
