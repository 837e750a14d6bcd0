package seal

import (
	"errors"
	"fmt"
)

// Errors of Open, to be matched with errors.Is. Their texts contain no secret.
var (
	// ErrCut is of bytes that are no whole envelope.
	ErrCut = errors.New("the envelope is damaged: it was cut short, or is none")
	// ErrKey is of an envelope of a key that the ring does not hold.
	ErrKey = errors.New("the envelope was sealed with another key")
	// ErrChanged is of an envelope that was changed, or sealed for another record.
	ErrChanged = errors.New("the envelope was changed, or belongs to another record")
)

const (
	magic    = "fsl\x01"
	headSize = len(magic) + len(ID{})
	// least is the size of an envelope of nothing: head, nonce and tag.
	least = headSize + 12 + 16
)

// Ring is the keys that open envelopes. The first one seals. A ring is safe for
// concurrent use.
type Ring struct {
	current ID
	keys    map[ID][]byte
}

// NewRing makes a ring of keys of KeySize bytes, of which the first one seals.
func NewRing(keys ...[]byte) (*Ring, error) {
	if len(keys) == 0 {
		return nil, errors.New("a ring of no keys: expected at least the key that seals")
	}
	r := &Ring{current: IDOf(keys[0]), keys: map[ID][]byte{}}
	for _, k := range keys {
		if len(k) != KeySize {
			return nil, fmt.Errorf("a key has %d bytes, expected %d", len(k), KeySize)
		}
		r.keys[IDOf(k)] = append([]byte(nil), k...)
	}
	return r, nil
}

// Current is the id of the key that seals.
func (r *Ring) Current() ID { return r.current }

// Holds reports whether the ring has a key.
func (r *Ring) Holds(id ID) bool { return r.keys[id] != nil }

// Seal makes the envelope of plain for a context.
func (r *Ring) Seal(context string, plain []byte) ([]byte, error) {
	c, err := cipherFor(r.keys[r.current], context)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	out := make([]byte, headSize, least+len(plain))
	copy(out, magic)
	copy(out[len(magic):], r.current[:])
	return c.Seal(out, nil, plain, out[:headSize]), nil
}

// Open returns the content of an envelope of the same context. Errors are ErrCut, ErrKey and ErrChanged.
func (r *Ring) Open(context string, envelope []byte) ([]byte, error) {
	id, err := KeyOf(envelope)
	if err != nil {
		return nil, err
	}
	key := r.keys[id]
	if key == nil {
		return nil, fmt.Errorf("%w: with %s, and not with %s", ErrKey, id, r.current)
	}
	c, err := cipherFor(key, context)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	plain, err := c.Open(nil, nil, envelope[headSize:], envelope[:headSize])
	if err != nil {
		return nil, ErrChanged
	}
	return plain, nil
}

// KeyOf is the id of the key that sealed an envelope; ErrCut if the bytes are no envelope.
func KeyOf(envelope []byte) (id ID, err error) {
	if !Is(envelope) {
		return id, fmt.Errorf("%w: it has %d bytes", ErrCut, len(envelope))
	}
	return ID(envelope[len(magic):headSize]), nil
}

// Is reports whether bytes have the form of an envelope.
func Is(envelope []byte) bool {
	return len(envelope) >= least && string(envelope[:len(magic)]) == magic
}

// OpenBare opens values that earlier builds sealed: a nonce and the ciphertext, by a key of the ring itself, with the
// context as the authenticated bytes. Such values name no key, so all keys are tried. It returns ErrKey.
func (r *Ring) OpenBare(context string, sealed []byte) ([]byte, error) {
	for _, key := range r.keys {
		c, err := bareCipher(key)
		if err != nil {
			return nil, err
		}
		if n := c.NonceSize(); len(sealed) >= n {
			if plain, err := c.Open(nil, sealed[:n], sealed[n:], []byte(context)); err == nil {
				return plain, nil
			}
		}
	}
	return nil, ErrKey
}
