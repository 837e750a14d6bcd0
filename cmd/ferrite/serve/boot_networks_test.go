package serve

import (
	"fmt"
	"strings"
	"testing"
)

// TestBootNetworks: boot-subnets are served beside the boot network, or describe it.
func TestBootNetworks(t *testing.T) {
	for name, tc := range map[string]struct {
		c    Config
		want string
	}{
		"alone": {Config{BootAddress: "10.0.0.1/24"}, "[10.0.0.0/24 10.0.0.128]"},
		"two": {Config{BootAddress: "10.0.0.1/24", BootSubnets: []string{"10.2.0.0/24"}},
			"[10.0.0.0/24 10.0.0.128 10.2.0.0/24 10.2.0.128]"},
		"its own": {Config{BootAddress: "10.0.0.1/24", BootSubnets: []string{"10.0.0.0/24 pool=10.0.0.9-10.0.0.20"}},
			"[10.0.0.0/24 10.0.0.9]"},
		"twice": {Config{BootAddress: "10.0.0.1/24", BootPool: "10.0.0.5-10.0.0.9",
			BootSubnets: []string{"10.0.0.0/24 pool=10.0.0.9-10.0.0.20"}}, "use one of the two"},
		"overlap": {Config{BootAddress: "10.0.0.1/24", BootSubnets: []string{"10.0.0.0/16"}}, "overlap"},
		"a pool outside": {Config{BootAddress: "10.0.0.1/24",
			BootSubnets: []string{"10.2.0.0/24 pool=10.3.0.1-10.3.0.9"}}, "is not a host address of it"},
		"no subnet": {Config{BootAddress: "10.0.0.1/24", BootSubnets: []string{"10.2.0.0/24 gateway=10.2.0.1"}},
			"boot-subnets: 10.2.0.0/24: gateway: is unknown"},
	} {
		_, all, err := tc.c.subnets()
		got := fmt.Sprint(err)
		if err == nil {
			var words []string
			for _, s := range all {
				words = append(words, s.Prefix.String(), s.First.String())
			}
			got = fmt.Sprint(words)
		}
		if !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
