//go:build interop

package e2e

import (
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

// TestIronic: a UEFI machine from enroll to its own OS, into rescue and back, and to undeployed, by
// OpenStack Ironic with our ramdisk.
func TestIronic(t *testing.T) {
	suitetest.Need(t, "interop")
	measured(t, profileLab, testCase{"ironic", 20 * time.Minute, ironicLife})
}

// TestIronicMedium: the same Ironic boots our ramdisk by its own virtual media, on a network without DHCP.
func TestIronicMedium(t *testing.T) {
	suitetest.Need(t, "interop")
	beside(t, profileLab, testCase{"ironic-medium", 20 * time.Minute, ironicMedium})
}

// TestImport: two machines that Ironic has deployed are taken over while they run, and worked on.
func TestImport(t *testing.T) {
	suitetest.Need(t, "interop")
	measured(t, profileLab, testCase{"import", 40 * time.Minute, importLife})
}

// TestNova: a machine that OpenStack's Nova boots, has rebuilt, rescued and deleted.
func TestNova(t *testing.T) {
	suitetest.Need(t, "interop-nova")
	measured(t, profileLab, testCase{"nova", 15 * time.Minute, novaLife})
}
