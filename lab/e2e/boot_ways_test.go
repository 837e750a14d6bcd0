//go:build bootways

package e2e

import (
	"testing"
	"time"
)

// TestBootWaysLive: machines that boot their workload from the network: kernel and ramdisk, and an ISO.
func TestBootWaysLive(t *testing.T) {
	beside(t, profileLab, testCase{"live", 6 * time.Minute, live})
}

// TestBootWaysOVMFPXE: the firmware's own PXE and our TFTP.
func TestBootWaysOVMFPXE(t *testing.T) {
	beside(t, profileLab, testCase{"ovmf-pxe", 6 * time.Minute, ovmfPXE})
}

// TestBootWaysUEFIHTTP: UEFI HTTP boot, no TFTP at all.
func TestBootWaysUEFIHTTP(t *testing.T) {
	beside(t, profileLab, testCase{"uefi-http", 6 * time.Minute, uefiHTTP})
}
