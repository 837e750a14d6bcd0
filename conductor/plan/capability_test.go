package plan

import "testing"

// TestCapabilityLine: capabilities of each form become the same line, which keeps all of them when one is set.
func TestCapabilityLine(t *testing.T) {
	for _, c := range []struct {
		caps any
		want string
	}{
		{nil, ""},
		{"b:2,a:1", "b:2,a:1"},
		{"odd", "odd"},
		{map[string]any{"raid_level": 1.0, "boot_mode": "bios", "kexec": true}, "boot_mode:bios,kexec:true,raid_level:1"},
		{`{"boot_mode": "bios", "a": "1"}`, "a:1,boot_mode:bios"},
		{5.0, ""},
	} {
		if got := capabilityLine(map[string]any{"capabilities": c.caps}); got != c.want {
			t.Errorf("%v: %q, want %q", c.caps, got, c.want)
		}
	}
}
