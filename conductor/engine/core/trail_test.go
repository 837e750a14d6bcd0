package core

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestTrailShowsOwnerFirst: names of a caller's own do not push the fields that matter out of an entry, and an entry
// says how many changes it leaves out.
func TestTrailShowsOwnerFirst(t *testing.T) {
	for name, value := range map[string]string{"many": "x", "long": strings.Repeat("𝔵", 1000)} {
		t.Run(name, func(t *testing.T) {
			was := node.Node{Owner: "blue", Protected: true, DriverInfo: map[string]any{"redfish_address": "a"}}
			is := node.Node{Owner: "red", Lessee: "green", Extra: map[string]any{}, Description: value, Name: value,
				DriverInfo: map[string]any{"redfish_address": "b"}}
			for i := range 1000 {
				is.Extra[fmt.Sprint(i)] = value
			}
			trail := &Trail{}
			trail.fields(&was, &is)
			_, _, changes := trail.Changes()
			e := nodeapi.AuditEntry{Changes: changes}
			if size := e.Bound(); size > 20_000 {
				t.Errorf("the entry has %d bytes", size)
			}
			for _, field := range []string{"owner", "lessee", "protected", "driver_info/redfish_address"} {
				if !slices.ContainsFunc(e.Changes, func(c nodeapi.AuditChange) bool { return c.Field == field }) {
					t.Errorf("the entry does not show %s: %v", field, e.Changes)
				}
			}
			if last := e.Changes[len(e.Changes)-1].Field; !strings.HasSuffix(last, " more") {
				t.Errorf("the last change is %s: expected how many are left out", last)
			}
		})
	}
}
