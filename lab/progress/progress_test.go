package progress

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestPipe: silence lasts ten seconds at most while there is work, and a line that is printed counts.
func TestPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		l := Labelled(&out, "build")
		time.Sleep(24500 * time.Millisecond) // no work, no line
		for i := range 25 {
			l.Set("package %d", i)
			time.Sleep(time.Second)
		}
		l.Print("a warning")
		time.Sleep(11 * time.Second)
		l.End()
		time.Sleep(time.Minute)
		want := "build: package 5 (30 s)\nbuild: package 15 (40 s)\na warning\nbuild: package 24 (60 s)\n"
		if got := out.String(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// TestTerminal: the line is redrawn in place, cut at the terminal's width, and gone at the end.
func TestTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		began := time.Now()
		l := start(&out, func() int { return 12 }, func(text string) string {
			return fmt.Sprintf("%s, %.0f s", text, time.Since(began).Seconds())
		})
		l.Set("one")
		l.Set("too soon to be drawn")
		time.Sleep(1500 * time.Millisecond)
		l.Set("two")
		l.Print("kept")
		l.Print("kept too")
		time.Sleep(time.Second)
		l.End()
		want := "\r\x1b[Kone, 0 s" + "\r\x1b[Ktoo soon to" + "\r\x1b[Ktwo, 2 s" + "\r\x1b[Kkept\nkept too\n" +
			"\r\x1b[Ktwo, 2 s" + "\r\x1b[K"
		if got := out.String(); got != want {
			t.Errorf("got\n%q\nwant\n%q", got, want)
		}
	})
}
