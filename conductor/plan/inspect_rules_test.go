package plan

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestEmptiedInterfaces: an interface that a rule has set to null gets the operator's default, or the default of the
// hardware type.
func TestEmptiedInterfaces(t *testing.T) {
	d := decision{f: Facts{Settings: Settings{DefaultInterfaces: map[string]string{"inspect": "agent"}}}}
	n := node.Node{Driver: "redfish", Interfaces: map[string]string{"inspect": "", "deploy": "", "boot": "pxe"}}
	d.fillInterfaces(&n)
	for kind, want := range map[string]string{"inspect": "agent", "deploy": "direct", "boot": "pxe"} {
		if got := n.Interfaces[kind]; got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}
