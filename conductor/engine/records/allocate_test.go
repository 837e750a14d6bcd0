package records

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestInTurn: one project after the other, each in the order in which it asked.
func TestInTurn(t *testing.T) {
	for given, want := range map[string]string{
		"":                  "",
		"b1 b2 b3":          "b1 b2 b3",
		"b1 b2 b3 r1 g1 r2": "b1 r1 g1 b2 r2 b3",
	} {
		var waiting []node.Allocation
		for _, id := range strings.Fields(given) {
			waiting = append(waiting, node.Allocation{Record: node.Record{UUID: id}, Owner: id[:1]})
		}
		var got []string
		for _, a := range inTurn(waiting) {
			got = append(got, a.UUID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", given, got, want)
		}
	}
}
