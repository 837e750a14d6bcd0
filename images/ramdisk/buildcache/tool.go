package buildcache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// killGrace limits how long a tool's children may hold its output pipes after its
// context ended.
const killGrace = 5 * time.Second

// errorLines is the number of last lines of a failed tool's output that its error
// quotes.
const errorLines = 6

// Tool is one call of a program of the host.
type Tool struct {
	Name    string   // program, looked up in PATH
	Args    []string // without the name
	Package string   // Debian package that has it, named when it is missing
	Dir     string   // working folder, "" for ours
	Env     []string // added to our environment, KEY=value
	Stdin   string
}

// progressKey is the key of a context's value for WithProgress.
type progressKey struct{}

// WithProgress has see called with each line that tools under ctx print to standard output, as it comes: some take
// minutes.
func WithProgress(ctx context.Context, see func(line string)) context.Context {
	return context.WithValue(ctx, progressKey{}, see)
}

// Run runs the tool and returns its standard output. The error of a failed tool quotes the end of its output.
func (t Tool) Run(ctx context.Context) (string, error) {
	path, err := lookPath(t.Name)
	if err != nil {
		return "", fmt.Errorf("%s is not installed: run `apt-get install %s`: %w", t.Name, t.Package, err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, t.Args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.Dir, &stdout, &stderr
	if see, ok := ctx.Value(progressKey{}).(func(string)); ok {
		cmd.Stdout = io.MultiWriter(&stdout, &eachLine{see: see})
	}
	cmd.Stdin = strings.NewReader(t.Stdin)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	cmd.Env = append(cmd.Env, t.Env...)
	cmd.WaitDelay = killGrace
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(ctx.Err(), err)
		}
		return "", fmt.Errorf("%s %s: %w: %s", t.Name, strings.Join(t.Args, " "), err,
			lastLines(stdout.String(), stderr.String()))
	}
	return stdout.String(), nil
}

// eachLine cuts its input into lines.
type eachLine struct {
	see  func(string)
	part []byte
}

func (e *eachLine) Write(p []byte) (int, error) {
	e.part = append(e.part, p...)
	for {
		line, rest, ended := bytes.Cut(e.part, []byte("\n"))
		if !ended {
			return len(p), nil
		}
		e.see(string(line))
		e.part = rest
	}
}

// lookPath also looks where Debian keeps administrators' tools (mkfs.vfat, depmod),
// which ordinary users have not in PATH.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin/", "/sbin/"} {
		if path, sbinErr := exec.LookPath(dir + name); sbinErr == nil {
			return path, nil
		}
	}
	return "", err
}

func lastLines(outputs ...string) string {
	var lines []string
	for _, out := range outputs {
		for line := range strings.Lines(out) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return strings.Join(lines[max(0, len(lines)-errorLines):], "; ")
}

// HasTool says whether the host has a program that Tool would find.
func HasTool(name string) bool {
	_, err := lookPath(name)
	return err == nil
}
