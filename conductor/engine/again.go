package engine

import (
	"errors"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// again repeats an edit as long as others are faster.
func again[T any](try func() (T, error)) (T, error) {
	var saved T
	var err error
	for range maxTries {
		if saved, err = try(); !errors.Is(err, node.ErrStale) {
			break
		}
	}
	return saved, err
}
