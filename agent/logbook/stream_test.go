package logbook

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// drain takes everything, in batches of a size.
func drain(t *testing.T, s *Stream, maxBytes, maxLines int) []string {
	t.Helper()
	var all []string
	for range 1_000_000 {
		first, lines := s.Next(maxBytes, maxLines)
		if len(lines) == 0 {
			return all
		}
		if len(lines) > maxLines {
			t.Fatalf("%d lines at once", len(lines))
		}
		all = append(all, lines...)
		s.Taken(first + int64(len(lines)))
	}
	t.Fatal("the stream has no end")
	return nil
}

func TestStreamIsWholeAndInOrder(t *testing.T) {
	var s Stream
	b := &Book{}
	b.Add(&s)
	log := b.Logger(false, func() time.Duration { return time.Second })
	s.Add("[    0.000000] Command line: quiet ipa-agent-token=secret x=y")
	log.Info("one")
	log.Info("two\nlines")
	if first, lines := s.Next(1<<20, 2); first != 0 || len(lines) != 2 {
		t.Errorf("first %d, %q", first, lines)
	}
	if _, again := s.Next(1<<20, 1); len(again) != 1 { // not taken: still there
		t.Errorf("%q", again)
	}
	want := []string{"[    0.000000] Command line: quiet ipa-agent-token=****** x=y", "up=1s level=INFO msg=one",
		`up=1s level=INFO msg="two\nlines"`}
	if diff := cmp.Diff(want, drain(t, &s, 1<<20, 2)); diff != "" {
		t.Error(diff)
	}
	s.Add(strings.Repeat("x", 2*maxLine))
	if got := drain(t, &s, 1<<20, 10); len(got) != 1 || len(got[0]) != maxLine+len(" (cut)") {
		t.Errorf("a long line came as %d lines", len(got))
	}
}

// TestStreamDropsTheOldest: dropped lines are counted, also while a batch is on its
// way, and the count is reported once.
func TestStreamDropsTheOldest(t *testing.T) {
	var s Stream
	n := 0
	fill := func(bytes int) {
		for i := 0; i < bytes; i += 1024 {
			s.Add(fmt.Sprintf("%06d%s", n, strings.Repeat(".", 1018)))
			n++
		}
	}
	fill(maxWaiting)
	first, lines := s.Next(10<<10, 100)
	if first != 0 || len(lines) != 10 {
		t.Fatalf("first %d, %d lines", first, len(lines))
	}
	fill(4 << 10) // drops four of those on the way
	s.Taken(first + int64(len(lines)))
	if first, lines := s.Next(1024, 100); first != 10 || len(lines) != 1 || !strings.HasPrefix(lines[0], "000010") {
		t.Errorf("after a batch that arrived: first %d, %.20q", first, lines)
	}
	fill(16 << 10) // more than the ten there was room for
	if s.bytes > maxWaiting {
		t.Errorf("%d bytes are held", s.bytes)
	}
	first, lines = s.Next(1024, 100)
	want := []string{"(10 lines dropped: the conductor did not take them in time)", fmt.Sprintf("%06d", first+1)}
	if len(lines) != 2 || lines[0] != want[0] || !strings.HasPrefix(lines[1], want[1]) {
		t.Errorf("lines %.60q, want %q", lines, want)
	}
	s.Taken(first + 2)
	all := drain(t, &s, 1<<20, 1<<20)
	if last := all[len(all)-1]; !strings.HasPrefix(last, fmt.Sprintf("%06d", n-1)) || strings.HasPrefix(all[0], "(") {
		t.Errorf("ends with %.20q, begins with %.20q", last, all[0])
	}
	s.Close()
	s.Add("x")
	if _, lines := s.Next(1<<20, 10); lines != nil {
		t.Errorf("a closed stream holds %q", lines)
	}
}

func TestKernelLine(t *testing.T) {
	for record, want := range map[string]string{
		"5,0,0,-;Linux version 6.1.0\n":                              "[    0.000000] Linux version 6.1.0",
		"6,339,5140900,-;NET: Registered\n SUBSYSTEM=net\n DEVICE=x": "[    5.140900] NET: Registered",
		"6,1,123456789012,c;late; and so on":                         "[123456.789012] late; and so on",
		"7,400,1,-;ferrite-agent: up=1s level=INFO":                  "",
		"no record":   "",
		"6,1;short":   "",
		"6,1,x,-;bad": "",
		"6,1,-5,-;no": "",
		"":            "",
	} {
		if got, ok := KernelLine([]byte(record)); got != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", record, got, ok, want)
		}
	}
}

func FuzzKernelLine(f *testing.F) {
	f.Add([]byte("6,339,5140900,-;NET: Registered\n SUBSYSTEM=net"))
	f.Add([]byte("6,1,9223372036854775807,-;x"))
	f.Fuzz(func(t *testing.T, record []byte) {
		if line, ok := KernelLine(record); ok && (!strings.HasPrefix(line, "[") || strings.Contains(line, "\n")) {
			t.Errorf("%q", line)
		}
	})
}

func TestKernelError(t *testing.T) {
	for record, want := range map[string]bool{
		"3,1,2,-;disk on fire": true, "0,1,2,-;panic": true, "4,1,2,-;hm": false, "6,1,2,-;Linux": false,
		"11,1,2,-;an error a program told of": true, "30,1,2,-;news of a daemon": false, "x": false, "": false,
		"-8,1,2;": false,
	} {
		if KernelError([]byte(record)) != want {
			t.Errorf("%q: want %v", record, want)
		}
	}
}
