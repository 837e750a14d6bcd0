//go:build neutron

package e2e

import (
	"testing"
	"time"
)

// TestNeutronMachine: a machine's life at a switch that follows Debian's Neutron.
func TestNeutronMachine(t *testing.T) {
	measured(t, profileLab, testCase{"neutron", 20 * time.Minute, neutronMachine})
}
