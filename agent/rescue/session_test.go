package rescue

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/agent/sys"
)

// overAtOnce are programs that have ended before anybody looks.
type overAtOnce struct{}

func (overAtOnce) Start(cmd *exec.Cmd) error { cmd.Process = &os.Process{Pid: 1}; return nil }
func (overAtOnce) Wait(*exec.Cmd) error      { return nil }

// sentChannel is a channel that keeps the sent payloads.
type sentChannel struct {
	io.Reader
	sent []string
}

func (c *sentChannel) Write(p []byte) (int, error) { return len(p), nil }
func (c *sentChannel) CloseWrite() error           { return nil }
func (c *sentChannel) Stderr() io.ReadWriter       { return &bytes.Buffer{} }
func (c *sentChannel) Close() error                { c.sent = append(c.sent, "close"); return nil }
func (c *sentChannel) SendRequest(name string, _ bool, _ []byte) (bool, error) {
	c.sent = append(c.sent, name)
	return true, nil
}

// TestAnsweredBeforeTheEnd: however quickly a program ends, the client hears first
// that it was started.
func TestAnsweredBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &sentChannel{Reader: strings.NewReader("")}
		s := newSession(&Server{Options: Options{Kernel: sys.Linux{}, Programs: overAtOnce{}, Shell: "/bin/sh"}}, c,
			slog.New(slog.DiscardHandler))
		if err := s.start(exec.CommandContext(t.Context(), s.Shell)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(c.sent) != 0 {
			t.Errorf("before the answer the client was told %q", c.sent)
		}
		close(s.answered)
		<-s.ended
		if diff := cmp.Diff([]string{"exit-status", "close"}, c.sent); diff != "" {
			t.Error(diff)
		}
	})
}

// slow is a client that reads nothing until it is let.
type slow struct {
	sentChannel
	let  chan struct{}
	took bytes.Buffer
}

func (c *slow) Write(p []byte) (int, error) {
	<-c.let
	return c.took.Write(p)
}

// TestSlowClient: a program's output is sent before its end, however long the client takes to read it.
func TestSlowClient(t *testing.T) {
	const much = 40_000 // more than is read at a time, less than a pipe holds
	synctest.Test(t, func(t *testing.T) {
		c := &slow{sentChannel: sentChannel{Reader: strings.NewReader("")}, let: make(chan struct{})}
		s := newSession(&Server{Options: Options{Kernel: sys.Linux{}, Programs: programs{}, Shell: "/bin/sh"}}, c,
			slog.New(slog.DiscardHandler))
		if err := s.start(exec.CommandContext(t.Context(), s.Shell, "-c",
			fmt.Sprintf("head -c %d /dev/zero", much))); err != nil {
			t.Fatal(err)
		}
		close(s.answered)
		time.Sleep(time.Hour) // by a clock that stands still while the program runs
		if len(c.sent) != 0 {
			t.Errorf("before it has read anything the client was told %q", c.sent)
		}
		close(c.let)
		<-s.ended
		if diff := cmp.Diff([]string{"exit-status", "close"}, c.sent); diff != "" || c.took.Len() != much {
			t.Errorf("the client got %d of %d bytes: %s", c.took.Len(), much, diff)
		}
	})
}
