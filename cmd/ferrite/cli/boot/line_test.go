package boot

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestLineFits: the longest reason stands on the line of an ordinary request, and nothing leaves a line.
func TestLineFits(t *testing.T) {
	const room = 46 // of a reason with its advice, as package pxe's test has it
	reason := strings.Repeat("r", 20) + ": " + strings.Repeat("t", room-22)
	why, try, _ := strings.Cut(reason, ": ")
	e := nodeapi.BootEvent{At: time.Unix(0, 0), MAC: "52:54:00:77:00:01", IP: "192.168.100.100",
		Asked: "DISCOVER UEFI x64", Why: why, Try: try, Reason: "x", Times: 1}
	if got := eventText(e); !strings.HasSuffix(got, "no answer, "+reason) || len(got) > width {
		t.Errorf("%d columns: %s", len(got), got)
	}
	e.NodeName, e.Asked, e.Times = strings.Repeat("ü", 60), "GET "+strings.Repeat("/x", 99), 100_000
	e.IP, e.Relay, e.Answer = "", "255.255.255.255", strings.Repeat("a", 300)
	if got := eventText(e); utf8.RuneCountInString(got) != width || strings.Count(got, "…") != 3 {
		t.Errorf("%d columns: %s", utf8.RuneCountInString(got), got)
	}
	s := nodeapi.BootServer{Address: "255.255.255.255", BootFile: strings.Repeat("\x1b", 120)}
	for line := range strings.Lines(serverText(s)) {
		if utf8.RuneCountInString(strings.TrimSpace(line)) > width || strings.ContainsRune(line, '\x1b') {
			t.Errorf("%q", line)
		}
	}
}
