package steps

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strconv"
	"syscall"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
	"github.com/ferrite-metal/ferrite/proto/sitestep"
)

// siteGrace is how long a site step may take to end after SIGTERM, and its output to
// close after its end, before all of its process group is killed.
var siteGrace = 5 * time.Second

// firstVictim has the kernel end a program before all others when memory runs out
// (proc(5), oom_score_adj). It never ends process 1, which is the agent.
const firstVictim = "1000"

// errTimeout ends a step that has had its time.
var errTimeout = errors.New("timeout")

// siteEnv is the environment of site steps.
func siteEnv() []string {
	return []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin:/bbin", "HOME=/", "TMPDIR=/tmp", "LC_ALL=C"}
}

// runSite runs the program of a site step in a process group of its own until it ends,
// its time is over, or ctx ends. The group never outlives it.
func (m *Machine) runSite(ctx context.Context, s sitestep.Step, input []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Limit, errTimeout)
	defer cancel()
	name := s.Interface + "." + s.Step
	out := newSiteOutput(m.Log.With("step", name), func(percent int64, stage string) {
		m.Progress(agentapi.Progress{Step: s.Step, Stage: stage, Done: percent, Total: 100})
	})
	program := path.Join(cmp.Or(m.SiteRoot, "/"), sitestep.Folder, s.Program)
	cmd := exec.CommandContext(ctx, program)
	cmd.Dir, cmd.Env = "/", siteEnv()
	stdout, stderr := out.stream(false), out.stream(true)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	// The arguments are read by a goroutine that exec starts after the program.
	cmd.Stdin = &firstRead{r: bytes.NewReader(input), before: func() { m.sacrifice(cmd.Process.Pid) }}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = siteGrace
	m.Log.Info("site step started", "step", name, "program", program, "timeout", s.Limit)
	before := m.outOfMemory()
	err := m.Run(cmd)
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly ESRCH: nothing is left of it
	}
	stdout.close()
	stderr.close()
	if errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil { // it has succeeded all the same
		m.Log.Warn("the step has ended, but not all of its processes: they were killed", "step", name)
		err = nil
	}
	if err == nil && ctx.Err() == nil {
		return nil
	}
	return siteError(s, program, err, context.Cause(ctx), m.outOfMemory() > before, out.lastWords())
}

// siteError says how a site step failed.
func siteError(s sitestep.Step, program string, err, cause error, memory bool, words string) error {
	text, next := err.Error(), ""
	exit := new(exec.ExitError)
	switch {
	case errors.Is(cause, errTimeout):
		text = fmt.Sprintf("was not done after %s, and was killed with its children", s.Limit)
		next = fmt.Sprintf("; look at its log, or raise \"timeout\" in /%s/%s", sitestep.Folder, s.File)
	case cause != nil:
		text = "was stopped with its children: " + cause.Error()
	case memory && errors.As(err, &exit) && exit.Exited():
		text = fmt.Sprintf("exited with status %d; meanwhile a program of it was killed, out of memory", exit.ExitCode())
	case memory:
		text = "was killed, out of memory: the machine has no more for it, since the ramdisk takes its share"
	case errors.As(err, &exit) && exit.Exited():
		text = fmt.Sprintf("exited with status %d", exit.ExitCode())
	case exit.ProcessState != nil:
		text = "was ended by a signal: " + exit.String()
	}
	if words == "" {
		words = "it wrote nothing to stderr"
	} else {
		words = "the end of its stderr: " + words
	}
	return fmt.Errorf("%s %s; %s%s", program, text, nodeapi.Printable(words), next)
}

// firstRead does something before the first byte is read.
type firstRead struct {
	r      *bytes.Reader
	before func()
}

func (f *firstRead) Read(p []byte) (int, error) {
	if f.before != nil {
		f.before()
		f.before = nil
	}
	return f.r.Read(p)
}

// sacrifice makes a process the first that the kernel ends when memory runs out. Its
// children inherit that.
func (m *Machine) sacrifice(pid int) {
	file := path.Join("/proc", strconv.Itoa(pid), "oom_score_adj")
	if err := os.WriteFile(file, []byte(firstVictim), 0o600); err != nil && !errors.Is(err, os.ErrNotExist) {
		m.Log.Warn("the kernel may end another program than this step when memory runs out", "err", err)
	}
}

// outOfMemory counts the processes that the kernel has ended since memory ran out; 0
// where it does not say (before Linux 4.13).
func (m *Machine) outOfMemory() int64 {
	file, err := m.Root.Open("proc/vmstat")
	if err != nil {
		return 0
	}
	defer file.Close() //nolint:errcheck // only read from
	return oomKills(file)
}
