package erase

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestChoose: spots are on the disk, rising, canaries and samples apart, one of
// each in every part, and both edges are canaries.
func TestChoose(t *testing.T) {
	random := rand.New(rand.NewChaCha8([32]byte{7}))
	for _, blocks := range []int64{1, 2, 12, 13, 20, 100, 4096, 1 << 20, 1 << 33} {
		s := choose(blocks, random)
		if !slices.IsSorted(s.canaries) || !slices.IsSorted(s.samples) ||
			len(slices.Compact(slices.Clone(s.canaries))) != len(s.canaries) {
			t.Errorf("%d blocks: not in order, or twice", blocks)
		}
		if s.canaries[0] != 0 || s.canaries[len(s.canaries)-1] != blocks-1 {
			t.Errorf("%d blocks: first and last are no canaries", blocks)
		}
		widest := int64(0)
		for i, b := range s.samples {
			if _, both := slices.BinarySearch(s.canaries, b); both || b < 0 || b >= blocks {
				t.Errorf("%d blocks: sample %d is on a canary or off the disk", blocks, b)
			}
			if i > 0 {
				widest = max(widest, b-s.samples[i-1])
			}
		}
		if blocks > 1<<19 && (len(s.samples) != spread || widest > 2*blocks/spread) {
			t.Errorf("%d blocks: %d samples, at most %d apart", blocks, len(s.samples), widest)
		}
	}
	if s := choose(0, random); len(s.canaries) != 0 {
		t.Error("a canary on no disk")
	}
}
