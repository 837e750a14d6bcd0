package boot

import (
	"context"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"log/slog"
	"time"
)

// Pool is the kernel's random pool.
type Pool interface {
	EntropyReady() (bool, error)
	AddEntropy(seed [64]byte, bits int) error
}

// entropyPatience is how long a pool may take to fill by itself. Machines
// with RDRAND need none of it; one without, and without virtio-rng or a TPM,
// was seen to hang for good in the first getrandom (QEMU's qemu64).
const entropyPatience = 5 * time.Second

// Entropy waits for the random pool. When it is not ready in time it says so
// and fills the pool from the jitter of this processor's own timing, so that
// nothing above blocks without end.
func Entropy(ctx context.Context, pool Pool, log *slog.Logger) error {
	deadline := time.Now().Add(entropyPatience)
	for {
		ready, err := pool.EntropyReady()
		if err != nil || ready {
			return err
		}
		if time.Now().After(deadline) {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	log.Warn("random pool is not ready: the machine has no RDRAND, virtio-rng or TPM; filling it from timing jitter",
		"waited", entropyPatience)
	if err := pool.AddEntropy(jitter(time.Now), 256); err != nil {
		return fmt.Errorf("random pool stays empty: %w", err)
	}
	return nil
}

// jitterSamples is far more than the 256 bits credited: a quarter of a bit in
// a sample would do.
const jitterSamples = 1 << 14

// jitter hashes how long each hash took: caches, interrupts and clocks of
// different crystals make the low bits of that unpredictable.
func jitter(now func() time.Time) [64]byte {
	var state [64]byte
	var sample [8]byte
	h := sha512.New()
	last := now()
	for range jitterSamples {
		t := now()
		binary.LittleEndian.PutUint64(sample[:], uint64(t.Sub(last)))
		last = t
		h.Write(state[:])
		h.Write(sample[:])
		h.Sum(state[:0])
	}
	return state
}
