package sys

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// LoadKernel loads a kernel with an initial ramdisk, nil for none, and a command line, for
// Kexec to start. The kernel checks its signature where the machine demands one.
func (Linux) LoadKernel(kernel, initrd *os.File, cmdline string) error {
	fd, flags := -1, unix.KEXEC_FILE_NO_INITRAMFS
	if initrd != nil {
		fd, flags = int(initrd.Fd()), 0
	}
	if err := unix.KexecFileLoad(int(kernel.Fd()), fd, cmdline, flags); err != nil {
		return fmt.Errorf("kexec_file_load: %w%s", err, kexecHint(err))
	}
	return nil
}

// kexecHint explains the errors of kexec_file_load(2).
func kexecHint(err error) string {
	switch {
	case errors.Is(err, unix.ENOSYS):
		return ": the ramdisk's kernel is built without it (CONFIG_KEXEC_FILE)"
	case errors.Is(err, unix.EPERM):
		return ": the ramdisk's kernel is locked down, or does not allow it"
	case errors.Is(err, unix.EKEYREJECTED), errors.Is(err, unix.ENOKEY), errors.Is(err, unix.EBADMSG),
		errors.Is(err, unix.ENODATA):
		return ": the kernel has no signature that the ramdisk's kernel trusts"
	case errors.Is(err, unix.ENOEXEC):
		return ": the ramdisk's kernel cannot start a kernel of this form"
	}
	return ""
}

// UnloadKernel forgets the kernel that LoadKernel has loaded.
func (Linux) UnloadKernel() error {
	if err := unix.KexecFileLoad(-1, -1, "", unix.KEXEC_FILE_UNLOAD|unix.KEXEC_FILE_NO_INITRAMFS); err != nil {
		return fmt.Errorf("kexec_file_load, unloading: %w", err)
	}
	return nil
}

// Kexec syncs and starts the kernel that LoadKernel has loaded. It does not come back
// unless it failed.
func (Linux) Kexec() error {
	unix.Sync()
	if err := unix.Reboot(unix.LINUX_REBOOT_CMD_KEXEC); err != nil {
		return fmt.Errorf("start the loaded kernel: %w", err)
	}
	return nil
}

// FileInMemory makes a file without a name from the output of fill. It is open for reading alone: the kernel reads no
// file that is open for writing.
func FileInMemory(name string, fill func(io.Writer) error) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("file %s in memory: %w", name, err)
	}
	w := os.NewFile(uintptr(fd), name)
	defer w.Close() // memory
	if err := fill(w); err != nil {
		return nil, err
	}
	return os.Open(fmt.Sprintf("/proc/self/fd/%d", fd))
}
