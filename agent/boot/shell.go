package boot

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"time"
)

// Terminals opens consoles and puts programs on them.
type Terminals interface {
	OpenTerminal(path string) (*os.File, error)
	OnTerminal(cmd *exec.Cmd, tty *os.File)
}

// Shell offers a person at the console a shell.
type Shell struct {
	Kernel Terminals
	Reaper *Reaper
	Log    *slog.Logger
	Paths  []string // programs to try, best first
	AtOnce bool     // do not wait for Enter
	// Take reserves a console for a shell until giveBack. It is nil when nothing else
	// writes there.
	Take func(console string) (giveBack func())
}

// ShellPaths are where the ramdisk may have a shell: u-root's, then any.
func ShellPaths() []string {
	return []string{"/bbin/gosh", "/bin/gosh", "/bin/sh", "/bbin/sh"}
}

// FindShell is the path of the ramdisk's shell, empty when it has none.
func FindShell() string { return firstProgram(ShellPaths()) }

// Environment is the environment of a user's programs: the kernel sets none.
func Environment() []string {
	return []string{"PATH=/bbin:/bin:/usr/bin:/sbin:/usr/sbin", "HOME=/"}
}

// Serve offers a shell on one console until ctx ends: after Enter, or at
// once, and again after each has been left.
func (s Shell) Serve(ctx context.Context, console string) error {
	program := firstProgram(s.Paths)
	if program == "" {
		s.Log.Debug("no shell in this ramdisk")
		return nil
	}
	s.Log.Info("press Enter for a shell", "console", console)
	for ctx.Err() == nil {
		if err := s.once(ctx, console, program); err != nil {
			return err
		}
	}
	return nil
}

// once waits for Enter where it has to and runs one shell to its end.
func (s Shell) once(ctx context.Context, console, program string) error {
	tty, err := s.Kernel.OpenTerminal(console)
	if err != nil {
		return fmt.Errorf("shell on %s: %w", console, err)
	}
	defer tty.Close() // a terminal
	stop := context.AfterFunc(ctx, func() { _ = tty.Close() })
	defer stop()
	if !s.AtOnce {
		if _, err := bufio.NewReader(tty).ReadString('\n'); err != nil {
			return fmt.Errorf("shell on %s: wait for Enter: %w", console, err)
		}
	}
	s.Log.Info("shell started", "console", console, "program", program)
	cmd := exec.CommandContext(ctx, program)
	cmd.Dir = "/"
	cmd.Env = append(Environment(), "TERM=linux")
	s.Kernel.OnTerminal(cmd, tty)
	if s.Take != nil {
		defer s.Take(console)()
	}
	began := time.Now()
	if err := s.Reaper.Run(cmd); err != nil {
		s.Log.Info("shell ended", "console", console, "err", err)
	}
	if s.AtOnce && time.Since(began) < time.Second {
		// Without a pause, a shell that cannot run here would be restarted without end.
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
	return nil
}

func firstProgram(paths []string) string {
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p
		}
	}
	return ""
}
