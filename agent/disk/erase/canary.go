package erase

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	image "github.com/ferrite-metal/ferrite/images/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const (
	blockSize   = 4096 // a canary: a sector of any disk, or eight
	sectorSize  = 512
	edgeBlocks  = 6    // at either end, where partition tables are
	spread      = 1024 // canaries between, and as many samples
	perStratum  = 8    // blocks of a small disk that share a canary
	smallestRun = 2 * edgeBlocks
)

// ErrSurvived is wrapped when something on a disk outlived its erasing.
var ErrSurvived = errors.New("the disk is not erased")

// spots are places on a disk, in blocks and rising: canaries, which are written there,
// and samples, which are only read.
type spots struct{ canaries, samples []int64 }

// choose spreads spots over a disk of so many blocks: its edges, and a canary and a
// sample at random in each of equal parts between them. So a part of the disk that was
// not erased is found, and no firmware can know the places.
func choose(blocks int64, random *rand.Rand) spots {
	var s spots
	if blocks <= smallestRun {
		for b := range blocks {
			s.canaries = append(s.canaries, b)
		}
		return s
	}
	for b := range int64(edgeBlocks) {
		s.canaries = append(s.canaries, b, blocks-1-b)
	}
	inner := blocks - 2*edgeBlocks
	n := min(spread, inner/perStratum)
	for i := range n {
		from, to := edgeBlocks+inner*i/n, edgeBlocks+inner*(i+1)/n
		canary := from + random.Int64N(to-from)
		sample := from + random.Int64N(to-from-1)
		if sample >= canary { // any block of the part but the canary's
			sample++
		}
		s.canaries, s.samples = append(s.canaries, canary), append(s.samples, sample)
	}
	slices.Sort(s.canaries)
	return s
}

// watch holds the content of a disk at its spots.
type watch struct {
	d     Drive
	spots spots
	key   [32]byte
	old   map[int64][sha256.Size]byte // samples by block
	buf   []byte
}

// newWatch chooses spots and takes the samples. Blocks of zeroes or ones are
// none: an erased disk looks so.
func newWatch(ctx context.Context, d Drive) (*watch, error) {
	w := &watch{d: d, old: map[int64][sha256.Size]byte{}, buf: image.AlignedBuffer(blockSize)}
	random, err := newRandom()
	if err != nil {
		return nil, err
	}
	if w.spots = choose(d.Size()/blockSize, rand.New(random)); len(w.spots.canaries) == 0 {
		return nil, fmt.Errorf("a disk of %d bytes has no room for a canary of %d", d.Size(), blockSize)
	}
	return w, w.each(ctx, w.spots.samples, "sample", func(block int64) error {
		if err := w.read(block); err != nil {
			return err
		}
		if first := w.buf[0]; first != 0 && first != 0xff || !same(w.buf, first) {
			w.old[block] = sha256.Sum256(w.buf)
		}
		return nil
	})
}

// plant writes new canaries, through all caches, and reads them back: a disk that does
// not keep written data cannot be seen to lose it.
func (w *watch) plant(ctx context.Context) error {
	if _, err := crand.Read(w.key[:]); err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	err := w.each(ctx, w.spots.canaries, "write", func(block int64) error {
		copy(w.buf, w.canary(block))
		_, err := w.d.WriteAt(w.buf, block*blockSize)
		return err
	})
	if err != nil {
		return err
	}
	if err := w.d.Flush(); err != nil {
		return fmt.Errorf("flush the canaries: %w", err)
	}
	return w.each(ctx, w.spots.canaries, "read back", func(block int64) error {
		if err := w.read(block); err != nil {
			return err
		}
		if !bytes.Equal(w.buf, w.canary(block)) {
			return errors.New("it does not read as it was written: the disk is broken, or throws writes away")
		}
		return nil
	})
}

// verify reads all spots and counts those that are as before. If the disk promised
// zeroes, a block that is not zero counts too.
func (w *watch) verify(ctx context.Context, zeroes bool) (agentapi.EraseVerification, error) {
	v := agentapi.EraseVerification{Canaries: len(w.spots.canaries), Samples: len(w.old)}
	first := int64(-1)
	look := func(survived func(int64) bool) func(int64) error {
		return func(block int64) error {
			if err := w.read(block); err != nil {
				return err
			}
			if survived(block) || zeroes && !same(w.buf, 0) {
				if v.Survivors++; first < 0 {
					first = block * blockSize
				}
			}
			return nil
		}
	}
	if err := w.d.Flush(); err != nil {
		return v, fmt.Errorf("flush: %w", err)
	}
	if err := w.each(ctx, w.spots.canaries, "look for", look(w.canaryLives)); err != nil {
		return v, err
	}
	if err := w.each(ctx, w.spots.samples, "look at", look(w.sampleLives)); err != nil {
		return v, err
	}
	if v.Survivors > 0 {
		return v, fmt.Errorf("%w: it says that it is done, but %d of %d blocks that were read are as before (the first "+
			"at byte %d)",
			ErrSurvived, v.Survivors, v.Canaries+v.Samples, first)
	}
	v.Passed = true
	return v, nil
}

// canaryLives: one sector of it is enough.
func (w *watch) canaryLives(block int64) bool {
	canary := w.canary(block)
	for at := 0; at < blockSize; at += sectorSize {
		if bytes.Equal(w.buf[at:at+sectorSize], canary[at:at+sectorSize]) {
			return true
		}
	}
	return false
}

func (w *watch) sampleLives(block int64) bool {
	old, taken := w.old[block]
	return taken && old == sha256.Sum256(w.buf)
}

// canary is the content of a block: random without the key, and different in every
// block. It is computed again instead of stored.
func (w *watch) canary(block int64) []byte {
	b := make([]byte, blockSize)
	seed := sha256.Sum256(binary.BigEndian.AppendUint64(w.key[:len(w.key):len(w.key)], uint64(block)))
	_, _ = rand.NewChaCha8(seed).Read(b) // never fails
	return b
}

func (w *watch) read(block int64) error {
	_, err := w.d.ReadAt(w.buf, block*blockSize)
	return err
}

// each does something at every spot.
func (w *watch) each(ctx context.Context, blocks []int64, what string, do func(block int64) error) error {
	for _, b := range blocks {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("aborted: %w", err)
		}
		if err := do(b); err != nil {
			return fmt.Errorf("%s the block at byte %d: %w", what, b*blockSize, err)
		}
	}
	return nil
}

// same reports whether all bytes are b.
func same(p []byte, b byte) bool {
	for _, c := range p {
		if c != b {
			return false
		}
	}
	return true
}
