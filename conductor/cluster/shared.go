package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// KeyRows are the rows of the keys that all members share.
type KeyRows interface {
	SharedKeys(ctx context.Context) ([]store.SharedKey, error)
	PutSharedKey(ctx context.Context, k store.SharedKey) (bool, error)
}

// Shared are the keys that all members share, sealed with the cluster key.
type Shared struct {
	rows KeyRows
	ring *seal.Ring
}

// NewShared opens the keys that members share.
func NewShared(rows KeyRows, k Key) (*Shared, error) {
	ring, err := k.Ring()
	if err != nil {
		return nil, fmt.Errorf("cluster key: %w", err)
	}
	return &Shared{rows, ring}, nil
}

// ErrOtherKey refuses a cluster key that is not the one of the cluster.
var ErrOtherKey = errors.New("--cluster-key-file is not the key of this cluster: give every conductor the same file")

// Resealing opens the keys that members share with the last cluster key, and seals them with the next.
func Resealing(last, next Key) (func(store.SharedKey) ([]byte, error), error) {
	from, err := NewShared(nil, last)
	if err != nil {
		return nil, err
	}
	to, err := NewShared(nil, next)
	if err != nil {
		return nil, err
	}
	return func(k store.SharedKey) ([]byte, error) {
		key, err := from.ring.Open("shared key "+k.Name, k.Sealed)
		if err != nil {
			return nil, fmt.Errorf("%w (the shared key %s: %w)", ErrOtherKey, k.Name, err)
		}
		return to.ring.Seal("shared key "+k.Name, key)
	}, nil
}

// Get returns a key and its number; 0 when there is none.
func (s *Shared) Get(ctx context.Context, name string) (key []byte, number int64, err error) {
	all, err := s.rows.SharedKeys(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, k := range all {
		if k.Name != name {
			continue
		}
		key, err := s.ring.Open("shared key "+name, k.Sealed)
		if err != nil {
			return nil, 0, fmt.Errorf("%w (the shared key %s: %w)", ErrOtherKey, name, err)
		}
		return key, k.Number, nil
	}
	return nil, 0, nil
}

// Put stores a key under a number, which is one more than the stored one. false when another member was faster.
func (s *Shared) Put(ctx context.Context, name string, number int64, key []byte) (bool, error) {
	sealed, err := s.ring.Seal("shared key "+name, key)
	if err != nil {
		return false, fmt.Errorf("seal the shared key %s: %w", name, err)
	}
	return s.rows.PutSharedKey(ctx, store.SharedKey{Name: name, Number: number, Sealed: sealed})
}

// GetOrMake returns a key. If there is none, it stores the result of own.
func (s *Shared) GetOrMake(ctx context.Context, name string, own func() ([]byte, error)) ([]byte, error) {
	for {
		key, number, err := s.Get(ctx, name)
		if err != nil || number > 0 {
			return key, err
		}
		if key, err = own(); err != nil {
			return nil, err
		}
		if ok, err := s.Put(ctx, name, 1, key); ok || err != nil {
			return key, err
		}
	}
}
