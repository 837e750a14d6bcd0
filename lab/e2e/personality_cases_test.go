//go:build personalities

package e2e

import (
	"testing"
	"time"
)

// TestPersonality: a UEFI machine from enroll to its own OS and back, behind BMCs as several vendors make them.
func TestPersonality(t *testing.T) {
	for _, name := range []string{"supermicro-x12", "idrac9", "ilo6"} {
		t.Run(name, func(t *testing.T) { beside(t, profileLab, testCase{name, 15 * time.Minute, behind(name)}) })
	}
}
