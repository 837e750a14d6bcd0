//go:build neutron

package e2e

import (
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

// TestNeutronMachine: a machine's life at a switch that follows Debian's Neutron.
func TestNeutronMachine(t *testing.T) {
	suitetest.Need(t, "neutron-machine")
	measured(t, profileLab, testCase{"neutron", 20 * time.Minute, neutronMachine})
}
