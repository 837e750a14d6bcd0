package screen

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func busy() State {
	s := State{
		Version: "10.0.0", Node: "7c56f0bb-608b-4e81-a390-78a61614de7c", Name: "web-1", Machine: "Dell Inc. " +
			"PowerEdge R640",
		Serial:    "ABC1234",
		Conductor: "https://10.0.0.1:6385", Heartbeat: time.Date(2026, 11, 22, 4, 5, 6, 0, time.UTC),
		Doing: "deploy.write_image", Stage: "write", Done: 430_000_000, Total: 1_000_000_000,
		Err:   "heartbeat not taken: Post \"https://10.0.0.1:6385/v1/heartbeat\": connection refused",
		Shell: "Enter: a shell on this console",
	}
	for i := range 8 {
		c := Card{Name: fmt.Sprintf("eth%d", i), MAC: fmt.Sprintf("52:54:00:00:00:%02x", i), Carrier: i == 3 || i == 7}
		if i == 7 {
			c.Addresses = []netip.Addr{netip.MustParseAddr("10.0.0.57"), netip.MustParseAddr("fe80::5054:ff:fe00:7")}
		}
		s.Cards = append(s.Cards, c)
	}
	for i := range 40 {
		s.Log = append(s.Log, fmt.Sprintf("up=%d.000s level=INFO msg=\"line %d of the log\"", i, i))
	}
	return s
}

func TestRender(t *testing.T) {
	early := State{Version: "10.0.0", Doing: "waiting for the network",
		Shell: "no shell: ferrite.shell=0 is on the kernel's command line"}
	odd := busy()
	odd.Name, odd.Machine, odd.Cards, odd.Total = "", "evil\x1b[2J\tmachine", nil, 0
	unreachable := early
	unreachable.Network = []string{"router 192.0.2.1 on vlan100: no answer to ARP in VLAN 100, but it is heard in " +
		"VLAN 200: wrong VLAN; set vlan_id for VLAN 200, or the switch port to VLAN 100", "conductor " +
		"http://c: no way", "third"}
	for name, s := range map[string]State{"busy": busy(), "early": early, "odd": odd, "unreachable": unreachable} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(Render(s, 80, 24), "\n") + "\n"
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestRenderFits: any state fits, however small the display is.
func TestRenderFits(t *testing.T) {
	s := busy()
	s.Node, s.Err, s.Log = strings.Repeat("n\n", 300), strings.Repeat("\x9b", 300), append(s.Log, "\x1b]0;x\a", "ü")
	for _, columns := range []int{0, 1, 2, 3, 4, 5, 12, 13, 14, 40, 79, 80, 132} {
		for _, rows := range []int{0, 1, 2, 3, 8, 12, 16, 24, 25, 60} {
			lines := Render(s, columns, rows)
			if len(lines) != max(rows, 1) {
				t.Fatalf("%d lines in %d rows", len(lines), rows)
			}
			for _, l := range lines {
				if len([]rune(l)) > columns || strings.ContainsFunc(l,
					func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Fatalf("%dx%d: %q", columns, rows, l)
				}
			}
		}
	}
}

func TestLine(t *testing.T) {
	want := `ferrite: node web-1 (7c56f0bb-608b-4e81-a390-78a61614de7c); conductor https://10.0.0.1:6385; deploy.write_image: write; last error: heartbeat not taken: Post "https://10.0.0.1:6385/v1/heartbeat": connection refused`
	if got := Line(busy()); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := Line(State{Doing: "looking up"}); got != "ferrite: node not known yet; looking up" {
		t.Error(got)
	}
}

// terminal keeps the output, in one piece for each drawing.
type terminal struct {
	mu    sync.Mutex
	drawn []string
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drawn = append(t.drawn, string(p))
	return len(p), nil
}

// news is the output since the last call.
func (t *terminal) news() []string {
	time.Sleep(time.Second) // of a synctest bubble
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.drawn
	t.drawn = nil
	return out
}

func shown(t *testing.T, size func() (int, int), test func(b *Board, c *Console, out *terminal)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b, out := NewBoard(), &terminal{}
		c := NewConsole(out, size)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { c.Show(ctx, b) })
		test(b, c, out)
		cancel()
		wg.Wait()
	})
}

func TestDisplayIsDrawnWhenSomethingChanges(t *testing.T) {
	shown(t, func() (int, int) { return 80, 24 }, func(b *Board, c *Console, out *terminal) {
		if got := out.news(); len(got) != 1 || !strings.Contains(got[0], "not known yet") {
			t.Errorf("at first: %q", got)
		}
		b.Set(func(*State) {})
		if got := out.news(); len(got) != 0 {
			t.Errorf("nothing has changed: %q", got)
		}
		for i := range 100 {
			fmt.Fprintf(b, "line %d\nand more\n", i)
		}
		if got := out.news(); len(got) > 2 || !strings.Contains(got[len(got)-1], "line 99") {
			t.Errorf("of a hundred lines %d drawings: %q", len(got), got)
		}
		giveBack := c.Take()
		b.Doing("something")
		if got := strings.Join(out.news(), ""); got != plain+home+toEnd+showCursor {
			t.Errorf("while somebody works there: %q", got)
		}
		giveBack()
		if got := out.news(); len(got) != 1 || !strings.Contains(got[0], "something") {
			t.Errorf("afterwards: %q", got)
		}
	})
}

func TestSerialLineIsNotFlooded(t *testing.T) {
	shown(t, nil, func(b *Board, c *Console, out *terminal) {
		if got := out.news(); len(got) != 0 {
			t.Errorf("with nothing to say: %q", got)
		}
		b.Doing("deploy.write_image")
		for i := range int64(100) {
			b.Set(func(s *State) { s.Done, s.Total, s.Heartbeat = i, 100, time.Unix(i, 0) })
			fmt.Fprintln(b, "a line of the log")
			time.Sleep(time.Second)
		}
		if diff := cmp.Diff([]string{"ferrite: node not known yet; deploy.write_image\n"}, out.news()); diff != "" {
			t.Error(diff)
		}
		giveBack := c.Take()
		b.Failed(errors.New("no"))
		if got := out.news(); len(got) != 0 {
			t.Errorf("while somebody works there: %q", got)
		}
		giveBack()
		if diff := cmp.Diff([]string{"ferrite: node not known yet; deploy.write_image; last error: no\n"},
			out.news()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestDrawing(t *testing.T) {
	want := "\x1b[?25l\x1b[H\x1b[7mab   \x1b[m\x1b[K\r\n\x1b[K\r\nc\x1b[K\x1b[J"
	if got := draw([]string{"ab", "", "c"}, 6); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDisplay(t *testing.T) {
	for console, want := range map[string]bool{"/dev/tty0": true, "/dev/tty1": true, "/dev/ttyS0": false,
		"/dev/hvc0": false, "/dev/console": false, "/dev/ttyAMA0": false} {
		if Display(console) != want {
			t.Errorf("%s: want %v", console, want)
		}
	}
}

// TestNoBoard: an agent without consoles needs none.
func TestNoBoard(t *testing.T) {
	var b *Board
	b.Doing("x")
	b.Failed(errors.New("x"))
	if n, err := b.Write([]byte("x")); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestLogIsBounded(t *testing.T) {
	b := NewBoard()
	_, _ = b.Write(bytes.Repeat([]byte("x\n"), 10*keepLines))
	if s, _ := b.look(); len(s.Log) != keepLines {
		t.Errorf("%d lines", len(s.Log))
	}
}
