package node

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestWays: the verbs and their states equal the conductor's table.
func TestWays(t *testing.T) {
	got := map[string][]string{}
	for _, w := range ways() {
		got[w.verb] = slices.Sorted(slices.Values(w.from))
	}
	want := map[string][]string{}
	for _, row := range node.Table {
		if row.By != node.ByRequest {
			continue
		}
		verb := string(row.On)
		if row.On == node.Delete {
			verb = "undeploy"
		}
		want[verb] = append(want[verb], string(row.From))
		slices.Sort(want[verb])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAdvice: testdata/refused.txt has the refusal of every verb in every wrong state.
func TestAdvice(t *testing.T) {
	var text strings.Builder
	for _, w := range ways() {
		for _, state := range nodeapi.ProvisionStates() {
			if allowed(w.verb, state) {
				continue
			}
			why, try := advice(w.verb, state)
			fmt.Fprintf(&text, "cannot %s node NODE: it is in state %s%s\n", w.verb, state, why)
			if try != "" {
				fmt.Fprintf(&text, "  try: %s\n", try)
			}
		}
	}
	const file = "testdata/refused.txt"
	if *update {
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
