package sys

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// insideArg is the first argument by which this program starts another, see Inside.
const insideArg = "--inside-image"

// Inside is for the begin of main: as the first process of a PID namespace this program becomes the one in its
// arguments. Before that it replaces the machine's /proc, which only a process of the namespace can do: through it a
// program of an image reads memory and files of the agent, and with them its token and the pull secret
// (CVE-2026-54422). It returns nil when the arguments are not meant for it.
func Inside(args []string) error {
	if len(args) < 3 || args[1] != insideArg {
		return nil
	}
	argv := args[2:]
	err := errors.Join(unmount("/proc", unix.MNT_DETACH),
		mountAt(ChrootMount{Device: "proc", Kind: "proc"}, "/proc", quiet))
	if err == nil {
		err = syscall.Exec(argv[0], argv, os.Environ())
	}
	return fmt.Errorf("%s: %w", argv[0], err)
}

// inside makes cmd run its program by Inside, in namespaces of its own.
func inside(cmd *exec.Cmd, argv []string) {
	cmd.Path, cmd.Args = "/proc/self/exe", append([]string{"ferrite-agent", insideArg}, argv...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS}
}
