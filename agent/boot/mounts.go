package boot

import (
	"errors"
	"os"
)

// Mounter mounts.
type Mounter interface {
	Mount(source, target, fstype string) error
}

// efiFolder exists exactly when the firmware that started the kernel is UEFI.
const efiFolder = "/sys/firmware/efi"

// Mounts mounts the file systems that everything else reads. It goes on after a
// failure, since a machine with most of them is better than none, and returns all
// errors.
func Mounts(m Mounter) error {
	var errs []error
	for _, fs := range []struct{ source, target, kind string }{
		{"devtmpfs", "/dev", "devtmpfs"},
		{"proc", "/proc", "proc"},
		{"sysfs", "/sys", "sysfs"},
		{"tmpfs", "/run", "tmpfs"},
		{"tmpfs", "/tmp", "tmpfs"},
		{"devpts", "/dev/pts", "devpts"},
	} {
		errs = append(errs, m.Mount(fs.source, fs.target, fs.kind))
	}
	return errors.Join(errs...)
}

// MountEFI makes the UEFI variables readable and writable; on a machine that
// was not started by UEFI it does nothing. efivarfs may be a module, so this
// is for after the first modules are loaded.
func MountEFI(m Mounter) error {
	if _, err := os.Stat(efiFolder); err != nil {
		return nil // BIOS: nothing to mount
	}
	return m.Mount("efivarfs", efiFolder+"/efivars", "efivarfs")
}

// pstoreFolder exists when the kernel can keep its log through a crash.
const pstoreFolder = "/sys/fs/pstore"

// MountPstore mounts the kernel's logs of crashes and returns the folder, "" when this
// kernel keeps none.
func MountPstore(m Mounter) (string, error) {
	if _, err := os.Stat(pstoreFolder); err != nil {
		return "", nil
	}
	return pstoreFolder, m.Mount("pstore", pstoreFolder, "pstore")
}
