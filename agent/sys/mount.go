package sys

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Mount mounts a file system of kind fstype at target, and makes the folder first. An
// existing mount at target is left alone.
func (Linux) Mount(source, target, fstype string) error {
	if err := os.MkdirAll(target, 0o755); err != nil {
		return fmt.Errorf("mount %s on %s: %w", fstype, target, err)
	}
	err := unix.Mount(source, target, fstype, 0, "")
	if err != nil && !errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("mount %s on %s: %w", fstype, target, err)
	}
	return nil
}
