package buildcache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// Run runs the tool and returns its standard output. The error of a failed tool quotes the end of its output.
func (t Tool) Run(ctx context.Context) (string, error) {
	path, err := lookPath(t.Name)
	if err != nil {
		return "", fmt.Errorf("%s is not installed: run `apt-get install %s`: %w", t.Name, t.Package, err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, t.Args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.Dir, &stdout, &stderr
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
