//go:build e2e

package scale

import (
	"os"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/lab/e2e/conductortest"
)

// Links of the machines that boot: the conductors' end, and the machines'.
const (
	bootLink = "boot0"
	roomLink = "room0"
)

// TestMain runs the tests in a network of their own: a hundred thousand BMCs have addresses of the loopback.
func TestMain(m *testing.M) {
	os.Exit(conductortest.Main(func() int { return postgrestest.Main(m) },
		"link add "+bootLink+" type veth peer name "+roomLink, "link set "+bootLink+" up"))
}
