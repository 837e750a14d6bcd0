package qemu

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
)

// CreateDisk makes d's file, empty and sparse. A file that exists already is an error: it may hold a user's data.
func CreateDisk(ctx context.Context, d Disk) error {
	if d.SizeMB < 1 {
		return fmt.Errorf("disk %s: expected a size of at least 1 MiB, found %d", d.Path, d.SizeMB)
	}
	file, err := os.OpenFile(d.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	defer file.Close()
	if or(d.Format, "raw") == "raw" {
		if err := file.Truncate(d.SizeMB << 20); err != nil {
			return fmt.Errorf("disk: %w", err)
		}
		return nil
	}
	create := exec.CommandContext(ctx, "qemu-img", "create", "-q", "-f", d.Format, d.Path,
		strconv.FormatInt(d.SizeMB, 10)+"M")
	if out, err := create.CombinedOutput(); err != nil {
		return fmt.Errorf("disk %s: qemu-img: %w: %s", d.Path, err, out)
	}
	return nil
}

// ensureVars gives the machine its own copy of OVMF's empty variables, once:
// boot entries an operating system writes must outlive a power cycle.
func ensureVars(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	from, err := os.Open(ovmfVars)
	if err != nil {
		return fmt.Errorf("uefi variables (Debian package ovmf): %w", err)
	}
	defer from.Close()
	to, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("uefi variables: %w", err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("uefi variables: %w", err)
	}
	// Renamed, so that a copy cut short is never taken for the real thing.
	return os.Rename(path+".new", path)
}
