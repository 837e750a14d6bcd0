package core

import (
	"errors"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Again repeats an edit as long as others are faster.
func Again[T any](try func() (T, error)) (T, error) {
	var saved T
	var err error
	for range MaxTries {
		if saved, err = try(); !errors.Is(err, node.ErrStale) {
			break
		}
	}
	return saved, err
}
