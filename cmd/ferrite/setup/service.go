package setup

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
)

// unit is the service of the packages.
const unit = "ferrite.service"

// service enables and starts the service, and returns a sentence about that. Without systemd, or without the unit, the
// sentence explains how to start a conductor by hand.
func (o *options) service(ctx context.Context) (string, error) {
	byHand := "start the conductor with: ferrite serve --config " + o.path(configFile)
	if _, err := os.Stat("/run/systemd/system"); err != nil || !o.enable {
		return byHand, nil //nolint:nilerr // systemd does not run
	}
	if err := exec.CommandContext(ctx, "systemctl", "cat", unit).Run(); err != nil {
		return byHand, nil //nolint:nilerr // Ferrite came without its unit
	}
	for _, verb := range []string{"enable", "restart"} {
		var said bytes.Buffer
		c := exec.CommandContext(ctx, "systemctl", verb, unit)
		c.Stdout, c.Stderr = &said, &said
		if err := c.Run(); err != nil {
			return "", fmt.Errorf("systemctl %s %s: %w: %s; the reason is in: journalctl -u %s", verb, unit, err,
				bytes.TrimSpace(said.Bytes()), unit)
		}
	}
	return unit + " is enabled and runs; its log: journalctl -u ferrite", nil
}
