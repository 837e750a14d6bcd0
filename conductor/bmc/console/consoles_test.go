package console_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/console"
)

// board is a BMC with one console at a time.
type board struct {
	mu       sync.Mutex
	fail     error
	takes    int
	asked    int
	open     int
	recorded []string
	opened   int
	line     net
}

// net is the machine's side of the newest line.
type net struct {
	out *io.PipeWriter // of the machine
	in  *io.PipeReader // to the machine
}

type boardLine struct {
	io.Reader
	io.Writer
	close func() error
}

func (l boardLine) Close() error { return l.close() }

func (b *board) Open(_ context.Context, _ string, take bool) (io.ReadWriteCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	if take {
		b.takes++
		b.fail = nil
	}
	if b.fail != nil {
		return nil, b.fail
	}
	if b.open++; b.open > 1 {
		panic("two lines to one BMC")
	}
	b.opened++
	outR, outW := io.Pipe()
	inR, inW := io.Pipe()
	b.line = net{outW, inR}
	return boardLine{outR, inW, func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.open--
		return errors.Join(outR.Close(), inW.Close())
	}}, nil
}

func (b *board) machine() net {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.line
}

func (b *board) count(n *int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return *n
}

func (b *board) list() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.recorded
}

func (b *board) record(nodes ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recorded = nodes
}

func (b *board) set(fail error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail = fail
}

// wrote is the machine writing.
func (b *board) wrote(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(b.machine().out, text); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// seen is all that a viewer has been given.
func seen(t *testing.T, v *console.Viewer) (output, notices string, err error) {
	t.Helper()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		data, notes, err := v.Next(ctx)
		cancel()
		output += string(data)
		for _, n := range notes {
			notices += fmt.Sprintf("(%s %s %s)", n.Role, n.Holder, n.Text)
		}
		if errors.Is(err, context.DeadlineExceeded) {
			return output, notices, nil
		}
		if err != nil {
			return output, notices, err
		}
	}
}

// run gives a test consoles; the nodes in the list are recorded.
func run(t *testing.T, recorded []string, test func(t *testing.T, b *board, c *console.Consoles, stop func())) {
	synctest.Test(t, func(t *testing.T) {
		b := &board{recorded: recorded}
		ctx, cancel := context.WithCancel(t.Context())
		c := console.New(ctx, console.Config{Open: b.Open, Log: slog.New(slog.DiscardHandler),
			Recorded: func(context.Context) ([]string, error) { return b.list(), nil }})
		done := make(chan struct{})
		go func() {
			defer close(done)
			time.Sleep(time.Millisecond) // so that the test's first settings hold from the beginning
			c.Run()
		}()
		test(t, b, c, func() { cancel(); <-done })
		cancel()
		<-done
		if b.count(&b.open) != 0 {
			t.Errorf("%d lines were not given back", b.count(&b.open))
		}
	})
}

func TestViewers(t *testing.T) {
	run(t, nil, func(t *testing.T, b *board, c *console.Consoles, _ func()) {
		alice := c.Attach("n", "alice", true, false)
		synctest.Wait()
		b.wrote(t, "BIOS\r\n")
		bob := c.Attach("n", "bob", true, false)
		if out, notes, err := seen(t, bob); out != "BIOS\r\n" || !strings.Contains(notes, "(reader alice alice is writing") ||
			err != nil {
			t.Errorf("bob: %q %s %v", out, notes, err)
		}
		if err := bob.Write(t.Context(), []byte("x")); !errors.Is(err, console.ErrReader) {
			t.Errorf("bob wrote: %v", err)
		}
		carol := c.Attach("n", "carol", true, true)
		if _, notes, _ := seen(t, alice); !strings.Contains(notes, "(writer  )") ||
			!strings.Contains(notes, "(reader carol carol has taken over") {
			t.Errorf("alice was told %s", notes)
		}
		if err := carol.Write(t.Context(), []byte("reboot")); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 10)
		if n, err := b.machine().in.Read(buf); string(buf[:n]) != "reboot" || err != nil {
			t.Errorf("the machine got %q %v", buf[:n], err)
		}
		for _, v := range []*console.Viewer{alice, bob, carol} {
			v.Close()
		}
		synctest.Wait()
		if b.count(&b.open) != 0 {
			t.Error("the line is open though nobody views it")
		}
		again := c.Attach("n", "alice", true, false)
		synctest.Wait()
		if b.count(&b.opened) != 2 {
			t.Errorf("the line was opened %d times", b.count(&b.opened))
		}
		again.Close()
	})
}

// TestSlowReader: one reader of three hundred does not read.
func TestSlowReader(t *testing.T) {
	run(t, nil, func(t *testing.T, b *board, c *console.Consoles, _ func()) {
		slow := c.Attach("n", "slow", false, false)
		var others []*console.Viewer
		for range 299 {
			others = append(others, c.Attach("n", "reader", false, false))
		}
		synctest.Wait()
		got := make([]int, len(others))
		for range 6 {
			b.wrote(t, strings.Repeat("x", 50<<10))
			for i, v := range others {
				for more := true; more; more = got[i]%(50<<10) != 0 || got[i] == 0 {
					out, _, err := v.Next(t.Context())
					if got[i] += len(out); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if got[0] != 300<<10 || got[298] != got[0] {
			t.Errorf("readers got %d and %d bytes", got[0], got[298])
		}
		if _, _, err := seen(t, slow); !errors.Is(err, console.ErrSlow) {
			t.Errorf("the slow reader ended with %v", err)
		}
		slow.Close()
		for _, v := range others {
			v.Close()
		}
	})
}

// TestEndlessOutput: a BMC that writes without end is read at the rate of a line.
func TestEndlessOutput(t *testing.T) {
	run(t, nil, func(t *testing.T, b *board, c *console.Consoles, _ func()) {
		defer c.Attach("n", "reader", false, false).Close()
		synctest.Wait()
		var taken atomic.Int64
		out := b.machine().out
		go func() {
			for taken.Load() < 64<<20 {
				n, err := out.Write(make([]byte, 4<<10))
				if taken.Add(int64(n)); err != nil {
					return
				}
			}
		}()
		time.Sleep(time.Minute)
		const want = 1<<20 + 60*64<<10
		if got := taken.Load(); got < want || got > want+8<<10 {
			t.Errorf("%d bytes were read in a minute, expected %d", got, want)
		}
	})
}

func TestRefusedAndTaken(t *testing.T) {
	run(t, nil, func(t *testing.T, b *board, c *console.Consoles, _ func()) {
		held := errors.New("in use by another session")
		b.set(held)
		v := c.Attach("n", "alice", true, false)
		if _, _, err := seen(t, v); !errors.Is(err, held) {
			t.Errorf("refused with %v", err)
		}
		v.Close()
		v = c.Attach("n", "alice", true, true)
		synctest.Wait()
		if b.count(&b.takes) == 0 || b.count(&b.open) != 1 {
			t.Errorf("taken %d times, %d open", b.count(&b.takes), b.count(&b.open))
		}
		v.Close()
	})
}

// TestRefusedAtOnce: a BMC may refuse before its viewer has been let in. The viewer gets the reason all the same.
func TestRefusedAtOnce(t *testing.T) {
	run(t, nil, func(t *testing.T, b *board, c *console.Consoles, _ func()) {
		held := errors.New("in use by another session")
		b.set(held)
		for i := range 20_000 {
			v := c.Attach(fmt.Sprint("n", i), "alice", true, false)
			if _, _, err := seen(t, v); !errors.Is(err, held) {
				t.Fatalf("viewer %d is refused with %v", i, err)
			}
			v.Close()
		}
	})
}

// TestReset: a BMC that resets is connected again, and the viewer gets a notice.
func TestReset(t *testing.T) {
	run(t, nil, func(t *testing.T, b *board, c *console.Consoles, _ func()) {
		v := c.Attach("n", "alice", true, false)
		synctest.Wait()
		b.set(errors.New("no answer"))
		b.machine().out.CloseWithError(errors.New("the BMC went away"))
		time.Sleep(10 * time.Second)
		b.set(nil)
		time.Sleep(time.Minute)
		b.wrote(t, "back")
		out, notes, err := seen(t, v)
		if out != "back" || err != nil || !strings.Contains(notes, "the BMC went away. Connecting again in 1s") ||
			!strings.Contains(notes, "no answer. Connecting again in 4s") || !strings.HasSuffix(notes, "is connected.)") {
			t.Errorf("%q %s %v", out, notes, err)
		}
		v.Close()
	})
}

// never is an error that trying again does not help against.
type never struct{}

func (never) Error() string   { return "no console" }
func (never) Permanent() bool { return true }

// TestRecordedWithout: a BMC that has no console is not asked twice a minute.
func TestRecordedWithout(t *testing.T) {
	run(t, []string{"n"}, func(t *testing.T, b *board, _ *console.Consoles, _ func()) {
		b.set(never{})
		time.Sleep(time.Hour)
		if n := b.count(&b.asked); n < 5 || n > 8 {
			t.Errorf("asked %d times in an hour", n)
		}
		b.set(nil)
		time.Sleep(11 * time.Minute)
		if b.count(&b.open) != 1 {
			t.Error("not opened when it could be")
		}
	})
}

// TestRecorded: nodes that are recorded are kept open, tried again, and let go.
func TestRecorded(t *testing.T) {
	run(t, []string{"n"}, func(t *testing.T, b *board, c *console.Consoles, stop func()) {
		b.set(errors.New("no answer"))
		time.Sleep(20 * time.Second)
		b.set(nil)
		time.Sleep(time.Minute)
		if b.count(&b.open) != 1 {
			t.Fatalf("%d lines are open", b.count(&b.open))
		}
		b.wrote(t,
			"UEFI firmware\r\n\x1b[2J\x1b[1;1HBoot\x1b[0m menu\r\n[    0.000000] Linux version 6\r\n[    0.1] more\r\n")
		if got := c.BootLog("n"); fmt.Sprint(got) != "[UEFI firmware Boot menu]" {
			t.Errorf("the log of the boot begins with %q", got)
		}
		if got := c.BootLog("n"); len(got) != 0 {
			t.Errorf("the next begins with %q", got)
		}
		b.record()
		time.Sleep(time.Minute)
		if b.count(&b.open) != 0 {
			t.Error("the line is open though it is not recorded")
		}
		b.record("n")
		time.Sleep(time.Minute)
		stop()
		if b.count(&b.open) != 0 || b.count(&b.opened) != 2 {
			t.Errorf("%d open at the end, opened %d times", b.count(&b.open), b.count(&b.opened))
		}
	})
}
