package history

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the figures, with the tag cluster, and the table of the documents")

// Files of the figures, and of the table that shows them.
const (
	figuresFile = "testdata/figures.json"
	pageFile    = "../../../docs/operate/takeover.md"
)

// figure is the time during which no conductor answered a write, in seconds, over some troubles of a kind.
type figure struct {
	Times  int     `json:"times"`
	Median float64 `json:"median"`
	Worst  float64 `json:"worst"`
}

// part is a part that can die: a row of the table. Its kind names its figure.
type part struct{ kind, what, happens string }

var table = []part{
	{"killed", "the leader is killed (`kill -9`, power)", "its 6-second lease expires, and another conductor takes over its nodes"},
	{"frozen", "the leader freezes (SIGSTOP, a stuck disk)",
		"the same; when it wakes up, the database refuses its writes, and it sends nothing to BMCs"},
	{"moment", "the leader freezes for less than 5 s", "it continues, and still leads or leads again"},
	{"refused", "the database refuses the leader", "it stops within 5 s, and another one takes over"},
	{"cut", "the leader's way to the database is cut, without an answer", "the same"},
	{"apart", "the other conductors do not reach the leader, which reaches the database",
		"it continues to lead and to serve its own clients; the others answer 503 within this time, until the fault ends"},
	{"stopped", "the leader is stopped or drained", "it gives the nodes back at once"},
	{"bystander", "another conductor, in any of these ways", "its clients go to another address"},
	{"postgres", "PostgreSQL is stopped for 2 s", "writes wait; after 5 s no conductor leads, and `/readyz` is 503"},
}

// rendered is the table with figures.
func rendered(figures map[string]figure) string {
	var out strings.Builder
	out.WriteString("| fault | effect | times | until writes are answered again: half of them, all |\n" +
		"|---|---|---|---|\n")
	for _, p := range table {
		if f, ok := figures[p.kind]; ok {
			fmt.Fprintf(&out, "| %s | %s | %d | %.1f s, %.1f s |\n", p.what, p.happens, f.Times, f.Median, f.Worst)
		}
	}
	return out.String()
}

// TestTable: the documents show the figures that were measured last. With -update it writes them.
func TestTable(t *testing.T) {
	raw, err := os.ReadFile(figuresFile)
	if err != nil {
		t.Fatal(err)
	}
	var figures map[string]figure
	if err := json.Unmarshal(raw, &figures); err != nil {
		t.Fatal(err)
	}
	for kind := range figures {
		if !slices.ContainsFunc(table, func(p part) bool { return p.kind == kind }) {
			t.Errorf("there is a figure of %s, and no row for it", kind)
		}
	}
	page, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- generated: takeovers -->\n", "<!-- end of generated: takeovers -->\n"
	head, rest, found := strings.Cut(string(page), begin)
	old, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s: expected the lines %q and %q", pageFile, begin, end)
	}
	want := rendered(figures)
	if *update {
		err = os.WriteFile(pageFile, []byte(head+begin+want+end+tail), 0o644) //nolint:gosec // a page for all
	} else if old != want {
		t.Errorf("%s shows other figures than %s: go test ./lab/e2e/history -run TestTable -update", pageFile, figuresFile)
	}
	if err != nil {
		t.Fatal(err)
	}
}
