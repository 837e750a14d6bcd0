package cluster

import (
	"strings"
	"testing"
)

// TestKey: the length of a key counts its random bytes, without the end of its line.
func TestKey(t *testing.T) {
	random := strings.Repeat("0123456789abcdef", 2)
	for _, c := range []struct {
		name, text string
		refused    bool
	}{
		{"32 bytes", random, false},
		{"32 bytes and the end of a line", random + "\r\n", false},
		{"31 bytes and the end of a line", random[1:] + "\n", true},
		{"two bytes and empty lines", "ab" + strings.Repeat("\n", minKey), true},
		{"empty lines", strings.Repeat("\n", minKey), true},
		{"nothing", "", true},
		{"one byte again and again", strings.Repeat("a", minKey), true},
		{"as long as it may be", strings.Repeat(random, maxKey/len(random)), false},
		{"longer", strings.Repeat(random, maxKey/len(random)) + "a", true},
	} {
		if _, err := NewKey([]byte(c.text)); (err != nil) != c.refused {
			t.Errorf("%s: %v, want refused %v", c.name, err, c.refused)
		}
	}
}
