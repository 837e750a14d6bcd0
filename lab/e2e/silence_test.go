package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// silence boots a broken ramdisk: the kernel panics, no agent calls, and the node fails by its deadline. The error
// names the machine's last boot stage.
func silence(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.BIOS)}, "--clean-timeout", "25s",
		"--file-url-allowed-paths", b.dir+","+filepath.Dir(b.kernel))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m := s.Machines[0]
	broken := filepath.Join(b.dir, "broken.initramfs")
	if err := os.WriteFile(broken, []byte("not an archive\n"), 0o644); err != nil {
		return err
	}
	if _, err := s.Enroll(ctx, m, map[string]any{"driver_info": map[string]any{
		"redfish_address": m.URL, "redfish_username": m.Username, "redfish_password": m.Password,
		"deploy_kernel": "file://" + b.kernel, "deploy_ramdisk": "file://" + broken,
		"kernel_append_params": "%default% panic=0", // or the machine would be at another stage by the deadline
	}}); err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	if _, err := s.Ask(ctx, m.Name, "manage", "manageable"); err != nil {
		return fmt.Errorf("manage: %w", err)
	}
	n, err := s.Ask(ctx, m.Name, "provide", "clean failed")
	if err != nil {
		return err
	}
	if !strings.Contains(n.LastError, "last boot stage seen: ramdisk") || n.Maintenance {
		return fmt.Errorf("maintenance %v (no cleaning step had begun), last_error %q, expected to name the last boot stage",
			n.Maintenance, n.LastError)
	}
	say("silence: as it should: %s", n.LastError)
	return nil
}
