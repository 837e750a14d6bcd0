package disk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"time"
)

// haltingSource sends no more than some bytes of an image, and then nothing until it is
// given up.
type haltingSource struct {
	memSource
	most int
}

func (s haltingSource) Body(ctx context.Context) (io.ReadCloser, error) {
	return io.NopCloser(io.MultiReader(bytes.NewReader(s.b[:s.most]), waiter{ctx})), nil
}

// waiter is read until its context ends.
type waiter struct{ ctx context.Context }

func (w waiter) Read([]byte) (int, error) {
	<-w.ctx.Done()
	return 0, w.ctx.Err()
}

// TestStartEndsTheWrite: an error about the disk's first bytes ends the write while most of
// the image has not been fetched.
func TestStartEndsTheWrite(t *testing.T) {
	t.Parallel()
	refusal := errors.New("no partition table")
	raw := make([]byte, 5<<20) // bytes that do not get fewer by compression
	rand.NewChaCha8([32]byte{7}).Read(raw)
	empty := append(make([]byte, 1<<20), raw[1<<20:]...)
	for name, image := range map[string][]byte{
		"raw": raw, "zeroes first": empty, "gz": gz(t, raw), "zst": zst(t, raw), "xz": xzOf(t, raw, "-0"),
		"qcow2": convert(t, raw, "-O", "qcow2"),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			dst := newMemTarget(7<<20, 512)
			res, err := Write(ctx, haltingSource{memSource{b: image}, len(image) / 2}, dst, Options{
				Checksum: sumOf(image), Start: func([]byte) error { return refusal },
			})
			if !errors.Is(err, refusal) {
				t.Fatalf("error %v; result %+v", err, res)
			}
			if !bytes.Equal(dst.b[:heldBack], make([]byte, heldBack)) {
				t.Error("the disk has a start that could boot")
			}
		})
	}
}
