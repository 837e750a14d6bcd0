package node_test

import (
	"encoding/csv"
	"errors"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/fsm"
)

var update = flag.Bool("update", false, "rewrite the diagram in docs/design/state-machines.md")

// TestTableIsIronics compares every row with the machine of Ironic, recorded
// in testdata.
func TestTableIsIronics(t *testing.T) {
	f, err := os.Open("testdata/ironic-machine.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma = '\t'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := map[[3]string]bool{} // from, event, to -> by request
	for _, row := range rows[1:] {
		want[[3]string{row[0], row[1], row[2]}] = row[3] == "y"
		info, known := node.States[node.State(row[0])]
		if !known {
			t.Errorf("state %q is missing", row[0])
		}
		if stable := row[4] == "y"; stable != (info.Class == node.Stable) {
			t.Errorf("state %q: stable is %v in Ironic", row[0], stable)
		}
		if target := strings.Replace(row[5], "None", "", 1); string(info.Target) != target {
			t.Errorf("state %q: target %q, in Ironic %q", row[0], info.Target, target)
		}
	}
	for _, tr := range node.Table {
		k := [3]string{string(tr.From), string(tr.On), string(tr.To)}
		by, ok := want[k]
		if !ok || by != bool(tr.By) {
			t.Errorf("row %v (by request %v) is not Ironic's", k, tr.By)
		}
		delete(want, k)
	}
	for k := range want {
		t.Errorf("row %v is missing", k)
	}
	if len(node.Table) != 93 || len(node.States) != 30 {
		t.Errorf("%d rows and %d states, want 93 and 30", len(node.Table), len(node.States))
	}
}

func TestTableIsSound(t *testing.T) {
	for _, fault := range fsm.New(node.Table).Check(slices.Collect(maps.Keys(node.States)),
		[]node.State{node.Enroll}, nil) {
		t.Error(fault)
	}
	for _, tr := range node.Table {
		if tr.By == node.Internal && tr.From.Class() == node.Stable {
			t.Errorf("stable %q is left by itself on %q", tr.From, tr.On)
		}
	}
	for s, info := range node.States {
		if info.Class == node.Working || info.Class == node.Waiting {
			if node.Row(s, node.Fail) == nil {
				t.Errorf("%q cannot fail", s)
			}
		}
		if info.Class == node.Waiting && node.Row(s, node.Abort) == nil {
			t.Errorf("%q cannot be aborted", s)
		}
	}
}

const (
	diagramBegin = "<!-- the table of conductor/node, rendered; go test ./conductor/node -update -->\n```mermaid\n"
	diagramEnd   = "```\n<!-- end of the table -->"
)

func TestDiagramIsCurrent(t *testing.T) {
	const file = "../../docs/design/state-machines.md"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), diagramBegin)
	have, after, ok2 := strings.Cut(rest, diagramEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no diagram between %q and %q", file, diagramBegin, diagramEnd)
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+diagramBegin+node.Mermaid()+diagramEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != node.Mermaid() {
		t.Errorf("the diagram in %s is stale; run go test ./conductor/node -update", file)
	}
}

func FuzzNext(f *testing.F) {
	f.Add("enroll", "manage\ndone\nprovide\nwait\nresume\ndone")
	f.Add("active", "delete\nfail\nrebuild")
	f.Fuzz(func(t *testing.T, start, script string) {
		s := node.State(start)
		for e := range strings.SplitSeq(script, "\n") {
			next, err := node.Next(s, node.Event(e))
			var refused *node.InvalidEventError
			if err != nil && (!errors.As(err, &refused) || next != s) {
				t.Fatalf("a refused event moved %q to %q: %v", s, next, err)
			}
			if err == nil && node.States[next] == (node.Info{}) && next != node.Enroll {
				if _, known := node.States[next]; !known {
					t.Fatalf("%q on %q leads to unknown %q", s, e, next)
				}
			}
			s = next
		}
	})
}
