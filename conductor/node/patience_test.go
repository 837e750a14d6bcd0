package node_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestPatience: each time is the node's own if driver_info has a valid one.
func TestPatience(t *testing.T) {
	defaults := node.DefaultPatience()
	for _, s := range node.PatienceSettings() {
		if s.Default < s.Least || s.Default > s.Most || *s.Of(&defaults) != s.Default {
			t.Errorf("%s: the default %s is not between %s and %s", s.Name, s.Default, s.Least, s.Most)
		}
		for _, c := range []struct {
			value any
			want  time.Duration // 0 for a refusal
		}{
			{nil, s.Default}, {60, time.Minute}, {float64(60), time.Minute}, {"60", time.Minute},
			{1.5, 0}, {"a minute", 0}, {"", 0}, {true, 0}, {-60, 0}, {0, 0}, {1e300, 0}, {"99999999999999999999", 0},
			{int(s.Most/time.Second) + 1, 0}, {[]any{60}, 0},
		} {
			n := node.Node{DriverInfo: map[string]any{s.Key(): c.value}}
			got, err := n.Patience(node.DefaultPatience())
			if c.want == 0 {
				if err == nil || !strings.Contains(err.Error(), s.Key()) || !strings.Contains(err.Error(), "seconds from") {
					t.Errorf("%s %v: got %v", s.Key(), c.value, err)
				}
				continue
			}
			want := node.DefaultPatience()
			*s.Of(&want) = c.want
			if err != nil || got != want {
				t.Errorf("%s %v: got %v, %v, want %v", s.Key(), c.value, got, err, want)
			}
		}
	}
}
