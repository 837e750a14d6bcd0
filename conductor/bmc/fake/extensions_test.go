package fake_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/fake"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

var (
	_ engine.Stepper      = (*fake.Driver)(nil)
	_ engine.MediaLoader  = (*fake.Driver)(nil)
	_ engine.SecureBooter = (*fake.Driver)(nil)
	_ engine.Indicators   = (*fake.Driver)(nil)
	_ engine.Consoles     = (*fake.Driver)(nil)
	_ engine.Vendor       = (*fake.Driver)(nil)
)

// Each method knows one word, as in Ironic.
func TestVendorMethods(t *testing.T) {
	d := fake.New(fake.Script{})
	n := node.Node{UUID: "n1"}
	for method, word := range map[string]string{"second_method": "kazoo", "third_method_sync": "meow",
		"fourth_method_shared_lock": "woof"} {
		for _, bar := range []any{word, "other", 7.0} {
			args := map[string]any{"bar": bar}
			if err := d.CheckVendor(t.Context(), n, method, args); err != nil {
				t.Errorf("%s %v: %v", method, args, err)
			}
			if got, err := d.CallVendor(t.Context(), n, method, args); err != nil || got != (bar == any(word)) {
				t.Errorf("%s %v: %v, %v", method, args, got, err)
			}
		}
		for _, none := range []map[string]any{nil, {"bar": nil}, {"bar": ""}, {"bar": false}} {
			if err := d.CheckVendor(t.Context(), n, method, none); err == nil ||
				err.Error() != "Parameter 'bar' not passed to method '"+method+"'." {
				t.Errorf("%s %v: %v", method, none, err)
			}
		}
	}
}

func TestConsole(t *testing.T) {
	d := fake.New(fake.Script{})
	for name, want := range map[string]string{
		"": "", "fake": "", "ipmitool-socat": "console_interface ipmitool-socat of node n1 is not built into this release",
	} {
		err := d.ValidateConsole(node.Node{UUID: "n1", Interfaces: map[string]string{"console": name}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("console interface %q: %v", name, err)
		}
	}
	info, err := d.Console(t.Context(), node.Node{UUID: "n1"})
	if diff := cmp.Diff(map[string]any{}, info); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
