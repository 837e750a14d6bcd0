package plan

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestCheckSecureBoot: only firmware that boots by UEFI and has secure boot on
// refuses an unsigned boot chain.
func TestCheckSecureBoot(t *testing.T) {
	on, off := true, false
	uefi := node.Node{UUID: "u", BootMode: "uefi", Interfaces: map[string]string{"boot": "ipxe"}}
	bios, fake := uefi, uefi
	bios.BootMode = "bios"
	fake.Interfaces = map[string]string{"boot": "fake"}
	for name, c := range map[string]struct {
		n      node.Node
		on     *bool
		passes bool
	}{
		"on":                 {uefi, &on, false},
		"off":                {uefi, &off, true},
		"not known":          {uefi, nil, true},
		"boots by BIOS":      {bios, &on, true},
		"boots from nothing": {fake, &on, true},
	} {
		if err := CheckSecureBoot(c.n, c.on); (err == nil) != c.passes {
			t.Errorf("%s: %v", name, err)
		}
	}
}
