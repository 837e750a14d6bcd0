package rescue

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/agent/sys"
)

// overAtOnce are programs that have ended before anybody looks.
type overAtOnce struct{}

func (overAtOnce) Start(cmd *exec.Cmd) error { cmd.Process = &os.Process{Pid: 1}; return nil }
func (overAtOnce) Wait(*exec.Cmd) error      { return nil }

// told is a channel of which only what is sent matters.
type told struct {
	io.Reader
	sent []string
}

func (c *told) Write(p []byte) (int, error) { return len(p), nil }
func (c *told) CloseWrite() error           { return nil }
func (c *told) Stderr() io.ReadWriter       { return &bytes.Buffer{} }
func (c *told) Close() error                { c.sent = append(c.sent, "close"); return nil }
func (c *told) SendRequest(name string, _ bool, _ []byte) (bool, error) {
	c.sent = append(c.sent, name)
	return true, nil
}

// TestAnsweredBeforeTheEnd: however quickly a program ends, the client hears first
// that it was started.
func TestAnsweredBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &told{Reader: strings.NewReader("")}
		s := newSession(&Server{Options: Options{Kernel: sys.Linux{}, Programs: overAtOnce{}, Shell: "/bin/sh"}}, c, slog.New(slog.DiscardHandler))
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
