//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkConductor measures an idle conductor: its start and its memory.
func BenchmarkConductor(b *testing.B) { measureOnce(b, (*shared).benchConductor) }

// BenchmarkLoad measures a conductor with many callers, beside a peer when PEER_URL names one.
func BenchmarkLoad(b *testing.B) { measureOnce(b, (*shared).benchLoad) }

// BenchmarkLarge measures a conductor with the nodes of a large site.
func BenchmarkLarge(b *testing.B) { measureOnce(b, (*shared).benchLarge) }

// measureOnce runs a measurement, which prints its own lines.
func measureOnce(b *testing.B, measure func(*shared, context.Context) error) {
	b.Helper()
	s := suiteOf(b, profileLab)
	fmt.Println() // after the benchmark's name
	for b.Loop() {
		if err := measure(s, s.ctx); err != nil {
			b.Fatal(err)
		}
	}
}
