package qemu

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestSplitter(t *testing.T) {
	tests := []struct {
		name string
		in   []string // as read, piece by piece
		want []string
	}{
		{"lines", []string{"one\r\ntwo\n", "\r\nthree\r"}, []string{"one", "two", "three"}},
		{"across reads", []string{"he", "llo", "\n"}, []string{"hello"}},
		{"colours and cursor, as OVMF paints", []string{"\x1b[2J\x1b[01;01H\x1b[=3h", "BdsDxe: loading\x1b",
			"[0m Boot0001\n"}, []string{"BdsDxe: loading Boot0001"}},
		{"two-byte escape", []string{"a\x1b7b\n"}, []string{"ab"}},
		{"control characters", []string{"a\x00\x07\x7fb\tc\n"}, []string{"ab\tc"}},
		{"not UTF-8", []string{"a\xff\xfeb\n"}, []string{"a��b"}},
		{"no end", []string{"login: "}, []string{"login: "}},
		{"too long", []string{strings.Repeat("x", maxLine+2) + "\n"}, []string{strings.Repeat("x", maxLine), "xx"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s splitter
			var got []string
			emit := func(l string) { got = append(got, l) }
			for _, piece := range tt.in {
				s.add([]byte(piece), emit)
			}
			s.flush(emit)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// A slow line is shown while it grows, and still comes whole.
func TestSplitterShow(t *testing.T) {
	var s splitter
	var got []string
	emit := func(l string) { got = append(got, l) }
	for _, piece := range []string{"login: ", "", "root", "\nend"} {
		s.add([]byte(piece), emit)
		s.show(emit)
	}
	s.flush(emit)
	want := []string{"login: ", "login: root", "end"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add([]byte("\x1b[2J\x1b[01;01Hone\r\ntwo"))
	f.Add([]byte("\x1b\x1b[["))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s splitter
		s.add(data, func(l string) {
			if !utf8.ValidString(l) || len(l) > maxLine*utf8.UTFMax || strings.ContainsAny(l, "\r\n\x1b") {
				t.Errorf("line %q", l)
			}
		})
	})
}

// A prompt has no line end and must show all the same, as soon as nothing more
// comes.
func TestReadConsoleShowsPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		lines := make(chan string, 4)
		done := make(chan error, 1)
		go func() { done <- readConsole(near, func(l string) { lines <- l }, func([]byte) {}) }()
		began := time.Now()
		if _, err := io.WriteString(far, "ready\nlogin: "); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"ready", "login: "} {
			if got := <-lines; got != want {
				t.Errorf("got %q, expected %q", got, want)
			}
		}
		if silence := time.Since(began); silence != idleFlush {
			t.Errorf("the prompt came after %v", silence)
		}
		far.Close()
		if err := <-done; err != nil && !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
}
