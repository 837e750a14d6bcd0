//go:build interop

package e2e

import (
	"testing"
	"time"
)

// TestIronic: a UEFI machine from enroll to its own OS, into rescue and back, and to undeployed, by
// OpenStack Ironic with our ramdisk.
func TestIronic(t *testing.T) {
	measured(t, profileLab, testCase{"ironic", 8 * time.Minute, ironicLife})
}
