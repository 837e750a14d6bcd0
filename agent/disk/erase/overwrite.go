package erase

import (
	"context"
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"

	image "github.com/ferrite-metal/ferrite/images/disk"
)

// writeChunk is written at a time.
const writeChunk = 4 << 20

// canOverwrite: every disk that can be written.
func canOverwrite(Facts, Options) verdict { return verdict{} }

// overwrite writes random data so many times, then zeroes, as shred does. The
// zeroes are written as data: no device is to find a shorter way.
func overwrite(ctx context.Context, j job) error {
	passes := j.options.Passes
	if j.options.Zeroes {
		passes++
	}
	buf := image.AlignedBuffer(writeChunk)
	whole := j.progress
	for pass := range passes {
		j.progress = func(share float64) { whole((float64(pass) + share) / float64(passes)) }
		fill := func([]byte) {}
		if pass < j.options.Passes {
			random, err := newRandom()
			if err != nil {
				return err
			}
			fill = func(b []byte) { _, _ = random.Read(b) } // never fails
		} else {
			clear(buf)
		}
		err := j.inChunks(ctx, writeChunk, func(off, n int64) error {
			fill(buf[:n])
			if _, err := j.WriteAt(buf[:n], off); err != nil {
				return fmt.Errorf("write %d bytes at %d in pass %d of %d: %w", n, off, pass+1, passes, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := j.Flush(); err != nil {
			return fmt.Errorf("flush pass %d of %d: %w", pass+1, passes, err)
		}
	}
	return nil
}

// newRandom is a fast stream of unpredictable bytes.
func newRandom() (*rand.ChaCha8, error) {
	var seed [32]byte
	if _, err := crand.Read(seed[:]); err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return rand.NewChaCha8(seed), nil
}

func overwriteZeroes(_ Facts, o Options) bool { return o.Zeroes }
