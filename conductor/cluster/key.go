package cluster

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/ferrite-metal/ferrite/conductor/seal"
)

// Lengths of a cluster key's file in bytes.
const (
	minKey = 32
	maxKey = 4096
)

// Key is the key that all members share. Their certificates, and the key that seals shared values, are derived from it.
type Key struct{ secret []byte }

// ReadKey reads the cluster key: any text or bytes, 32 at least.
func ReadKey(file string, log *slog.Logger) (Key, error) {
	info, err := os.Stat(file)
	if err != nil {
		return Key{}, fmt.Errorf("--cluster-key-file: %w; make one, and give every conductor the same: "+
			"(umask 077; openssl rand -base64 48 >%s)", err, file)
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator's own
	if err != nil {
		return Key{}, fmt.Errorf("--cluster-key-file: %w", err)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return Key{}, fmt.Errorf("--cluster-key-file %s: other users can write to it: chmod 600 it", file)
	}
	if info.Mode().Perm()&0o044 != 0 {
		log.Warn("other users can read the cluster key, and become conductors with it: chmod 600 it", "file", file)
	}
	key, err := NewKey(text)
	if err != nil {
		return Key{}, fmt.Errorf("--cluster-key-file %s: %w", file, err)
	}
	return key, nil
}

// NewKey makes a key of the content of its file. The ends of lines after it do not count.
func NewKey(text []byte) (Key, error) {
	text = bytes.TrimRight(text, "\r\n")
	if len(text) < minKey || len(text) > maxKey {
		return Key{}, fmt.Errorf("expected %d to %d random bytes, found %d: make one with: openssl rand -base64 48", minKey,
			maxKey, len(text))
	}
	if bytes.Count(text, text[:1]) == len(text) {
		return Key{}, errors.New("expected random bytes, found one byte again and again: make a key with: " +
			"openssl rand -base64 48")
	}
	return Key{text}, nil
}

// derive makes the key of one purpose.
func (k Key) derive(purpose string) []byte {
	key, err := hkdf.Key(sha256.New, k.secret, nil, "ferrite cluster "+purpose, seal.KeySize)
	if err != nil {
		panic(err) // only of a length that is too large
	}
	return key
}

// Ring seals the values that the members share.
func (k Key) Ring() (*seal.Ring, error) { return seal.NewRing(k.derive("shared keys")) }
