//go:build matrix

package e2e

import (
	"fmt"
	"testing"
	"time"
)

// TestMatrix takes a machine of every firmware, bus and card, and broken ones, through
// their lives. A failure ends no other case: machines that fail together have the cause in common.
func TestMatrix(t *testing.T) {
	start, ran := time.Now(), 0
	t.Cleanup(func() {
		if !t.Failed() {
			fmt.Printf("e2e-matrix: ok %d machines in %.0f s\n", ran, time.Since(start).Seconds())
		}
	})
	for _, c := range matrix() {
		t.Run(c.name, func(t *testing.T) {
			ran++
			beside(t, profileMetal, c)
		})
	}
}
