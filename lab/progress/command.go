package progress

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// screen is a Line.
type screen interface {
	Set(format string, args ...any) // for a moment
	Print(text string)              // to stay
}

// Run runs a command and shows its progress on standard error. Builds by go are counted in packages. Of other
// commands every line stays, or with brief the last line is shown for a moment, and all of them stay only when the
// command fails. The error of a command that fails is an *exec.ExitError.
func Run(ctx context.Context, name string, brief bool, args ...string) error {
	line := Labelled(os.Stderr, name)
	defer line.End()
	return run(ctx, line, brief, args)
}

func run(ctx context.Context, line screen, brief bool, args []string) error {
	if args[0] == "go" && len(args) > 1 && slices.Contains([]string{"build", "install"}, args[1]) {
		return goBuild(ctx, line, args)
	}
	line.Set("running %s", args[0])
	var whole []string
	err := lines(ctx, args, func(text string) {
		if !brief {
			line.Print(text)
			return
		}
		whole = append(whole, text)
		line.Set("%s", text)
	})
	if err != nil {
		for _, text := range whole {
			line.Print(text)
		}
	}
	return err
}

// goBuild runs a build. A first run with -n names the packages that are not in the cache; -v names each as its turn
// comes. Any other line is an error or a warning, except downloads.
func goBuild(ctx context.Context, line screen, args []string) error {
	command := func(flag string) []string { return append([]string{"go", args[1], flag}, args[2:]...) }
	line.Set("looking for packages that have changed")
	missing := map[string]bool{}
	planned := lines(ctx, command("-n"), func(text string) {
		if name, is := strings.CutPrefix(text, "# "); is && !strings.Contains(name, " ") {
			missing[name] = true
		} else if strings.HasPrefix(text, "go: downloading ") {
			line.Set("%s", strings.TrimPrefix(text, "go: "))
		}
	})
	total, count := len(missing), 0
	if planned == nil && total == 0 {
		line.Set("linking")
	}
	return lines(ctx, command("-v"), func(text string) {
		switch {
		case missing[text]:
			delete(missing, text)
			count++
			line.Set("package %d of %d: %s", count, total, text)
			if count == total {
				line.Set("linking")
			}
		case strings.HasPrefix(text, "go: downloading "):
			line.Set("%s", strings.TrimPrefix(text, "go: "))
		default:
			line.Print(text)
		}
	})
}

// lines runs a command, with each line of its output for see. An interrupt goes to the whole process group, as from a
// terminal, and the command ends by itself.
func lines(ctx context.Context, args []string, see func(string)) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, w, w
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGINT) }
	err = c.Start()
	if closing := w.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	var read sync.WaitGroup
	read.Go(func() {
		in := bufio.NewReader(r)
		for {
			text, err := in.ReadString('\n')
			if text = strings.TrimRight(text, "\r\n"); text != "" {
				see(text)
			}
			if err != nil {
				return
			}
		}
	})
	err = c.Wait()
	read.Wait()
	return err
}
