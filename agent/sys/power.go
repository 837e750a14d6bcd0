package sys

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Sync writes all that is dirty to the disks.
func (Linux) Sync() { unix.Sync() }

// PowerOff syncs and switches the machine off. It does not come back unless
// it failed.
func (l Linux) PowerOff() error { return l.end(unix.LINUX_REBOOT_CMD_POWER_OFF, "o", "power off") }

// Reboot syncs and restarts the machine through its firmware.
func (l Linux) Reboot() error { return l.end(unix.LINUX_REBOOT_CMD_RESTART, "b", "reboot") }

// end asks for the end of this boot, and the magic SysRq key for the same
// when the system call refuses.
func (Linux) end(cmd int, sysrq, what string) error {
	unix.Sync()
	err := unix.Reboot(cmd)
	if err == nil {
		return nil
	}
	if again := os.WriteFile("/proc/sysrq-trigger", []byte(sysrq), 0); again != nil {
		return fmt.Errorf("%s: %w; and by sysrq: %w", what, err, again)
	}
	return nil
}

// SetHostname names the machine.
func (Linux) SetHostname(name string) error {
	if err := unix.Sethostname([]byte(name)); err != nil {
		return fmt.Errorf("set hostname %q: %w", name, err)
	}
	return nil
}
