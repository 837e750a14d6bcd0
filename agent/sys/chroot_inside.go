package sys

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// insideArg is the first argument by which this program starts another, see Inside.
const insideArg = "--inside-image"

// Inside is for the begin of main: as the first process of a PID namespace this program becomes the one in its
// arguments. Before that it replaces the machine's /proc, which only a process of the namespace can do: through it a
// program of an image reads memory and files of the agent, and with them its token and the pull secret
// (CVE-2026-54422). And it gives up root's rights over the machine. It returns nil when the arguments are not meant
// for it.
func Inside(args []string) error {
	if len(args) < 3 || args[1] != insideArg {
		return nil
	}
	argv := args[2:]
	runtime.LockOSThread() // rights belong to a thread
	err := errors.Join(unmount("/proc", unix.MNT_DETACH),
		mountAt(ChrootMount{Device: "proc", Kind: "proc"}, "/proc", shown))
	if err == nil {
		err = giveUpRights()
	}
	if err == nil {
		err = syscall.Exec(argv[0], argv, os.Environ())
	}
	return fmt.Errorf("%s: %w", argv[0], err)
}

// kept are the rights that an image's programs have: over files of their own root.
var kept = []int{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_SETGID,
	unix.CAP_SETUID}

// giveUpRights drops all others for good. Each of these leads out of a root: mounting, making a device node, chroot
// itself, file handles (CAP_DAC_READ_SEARCH), another process's memory, modules, ports of the machine, kexec.
func giveUpRights() error {
	var rights [2]unix.CapUserData
	for _, c := range kept {
		rights[c/32].Permitted |= 1 << (c % 32)
		rights[c/32].Effective |= 1 << (c % 32)
	}
	for c := range 64 { // newer kernels' too
		if slices.Contains(kept, c) {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("give up right %d: %w", c, err)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capset(&header, &rights[0]); err != nil {
		return fmt.Errorf("give up rights: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new rights: %w", err)
	}
	return nil
}

// inside makes cmd run its program by Inside, in namespaces of its own and in a group, if there is one.
func inside(cmd *exec.Cmd, argv []string, g *group) {
	cmd.Path, cmd.Args = "/proc/self/exe", append([]string{"ferrite-agent", insideArg}, argv...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS}
	if g != nil {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(g.own.Fd())
	}
}
