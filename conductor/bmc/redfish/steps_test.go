package redfish_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestSteps prints the offered steps, to be read.
func TestSteps(t *testing.T) {
	var out strings.Builder
	for _, o := range redfish.New(redfish.Options{}).Steps(node.Node{Driver: "idrac"}) {
		fmt.Fprintf(&out, "%s.%s", o.Interface, o.Step)
		for _, f := range slices.Sorted(maps.Keys(o.Priority)) {
			fmt.Fprintf(&out, " %s:%d", f, o.Priority[f])
		}
		fmt.Fprintf(&out, " abortable:%t needs_no_ramdisk:%t\n", o.Abortable, o.NeedsNoRamdisk)
		for _, name := range slices.Sorted(maps.Keys(o.Args)) {
			fmt.Fprintf(&out, "  %s (required:%t) %s\n", name, o.Args[name].Required, o.Args[name].Description)
		}
	}
	const file = "testdata/steps.txt"
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
