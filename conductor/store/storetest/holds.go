package storetest

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// testHold: there is one hold or none.
func testHold(t *testing.T, s store.Store) {
	for _, h := range []node.RestoreHold{{}, {Since: at(2), Backup: at(1)}, {Since: at(3), Backup: at(2)}, {}, {}} {
		check(t, s.SetHold(t.Context(), h))
		got, err := s.Hold(t.Context())
		check(t, err)
		equal(t, h, got)
	}
}
