package crash

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

var kills = flag.Int("kills", 3, "how many conductors TestKillUnderLoad ends")

// process starts a conductor in a process of its own.
func process(t *testing.T, dir, database string) (c *servetest.Conductor, p *os.Process) {
	t.Helper()
	return processCut(t, cut{moment: never}, dir, database)
}

// processCut starts a conductor that dies at a write, with more arguments.
func processCut(t *testing.T, at cut, dir, database string,
	args ...string,
) (c *servetest.Conductor, p *os.Process) {
	t.Helper()
	c = &servetest.Conductor{Log: &apitest.Log{}, Ended: make(chan error, 1),
		HTTP: &http.Client{Transport: &http.Transport{}}}
	cmd := exec.Command(os.Args[0], append([]string{"--data-dir", dir, "--api-address", servetest.AnyPort,
		"--hardware-types", "fake-hardware", "--host", "test", "--sync-power-state-interval", "0"}, args...)...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s", cutVariable, at), databaseVariable+"="+database)
	cmd.Stderr = c.Log
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.Stop = func() { _ = input.Close() }
	go func() { c.Ended <- cmd.Wait() }()
	if err := c.Ready(); err != nil {
		t.Fatalf("%v\n%s", err, c.Log)
	}
	return c, cmd.Process
}

// deaths are the ways in which a conductor is ended from outside.
var deaths = []struct {
	name string
	do   func(p *os.Process) error
}{
	{"SIGKILL", func(p *os.Process) error { return p.Kill() }},
	{"SIGTERM, and SIGKILL soon after", func(p *os.Process) error {
		err := p.Signal(syscall.SIGTERM)
		time.AfterFunc(time.Duration(rand.IntN(30))*time.Millisecond, func() { _ = p.Kill() }) // may have ended
		return err
	}},
	{"SIGTERM", func(p *os.Process) error { return p.Signal(syscall.SIGTERM) }},
}

// TestKillUnderLoad ends conductors while all kinds of writes are under way, at any
// moment and in any way: each write that was acknowledged is there afterwards, and the
// next conductor starts with nothing to mend.
func TestKillUnderLoad(t *testing.T) { killUnderLoad(t, inFolder) }

// TestKillUnderLoadOnPostgres does the same to conductors with their database on a server.
func TestKillUnderLoadOnPostgres(t *testing.T) { killUnderLoad(t, postgrestest.URL) }

func killUnderLoad(t *testing.T, at func(testing.TB) string) {
	t.Helper()
	for i := range *kills {
		how := deaths[i%len(deaths)]
		t.Run(fmt.Sprint(i, " ", how.name), func(t *testing.T) {
			dir, database := filepath.Join(t.TempDir(), "data"), at(t)
			c, p := process(t, dir, database)
			writers := stopWriters(t, c)
			var acknowledged atomic.Int64
			var busy sync.WaitGroup
			for _, w := range writers {
				busy.Go(func() { w.run(t, c, &acknowledged) })
			}
			writes := int64(20 + rand.IntN(80))
			for end := time.Now().Add(servetest.Patience); acknowledged.Load() < writes && time.Now().Before(end); {
				time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
			}
			if err := how.do(p); err != nil {
				t.Fatal(err)
			}
			select {
			case <-c.Ended: // how it ended is ours
			case <-time.After(servetest.Patience):
				t.Fatalf("it does not end:\n%s", c.Log)
			}
			c.Stop()
			busy.Wait()
			c.HTTP.CloseIdleConnections()

			c, _ = process(t, dir, database)
			for _, w := range writers {
				for _, n := range w.done {
					if !w.kept(t, c, n) {
						t.Errorf("%s %d was acknowledged and is not there", w.name, n)
					}
				}
			}
			c.End(t)
			c.HTTP.CloseIdleConnections()
		})
	}
}
