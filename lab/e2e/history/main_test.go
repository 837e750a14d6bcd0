//go:build cluster

package history

import (
	"os"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/lab/e2e/conductortest"
)

// TestMain runs the tests in a network of their own, where ways between conductors are cut.
func TestMain(m *testing.M) {
	os.Exit(conductortest.Main(func() int { return postgrestest.Main(m) }))
}
