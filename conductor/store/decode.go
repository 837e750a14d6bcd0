package store

import (
	"encoding/json"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

func decode[T any](doc string) (T, error) {
	var v T
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		return v, fmt.Errorf("the database holds a %T that cannot be read: %w", v, err)
	}
	return v, nil
}

// unread gathers which records of a list cannot be decoded.
type unread struct {
	kind string
	node.UnreadableError
}

// look takes note of a record, and reports whether it could be decoded.
func (u *unread) look(uuid string, err error) bool {
	u.Last = uuid
	if err == nil {
		return true
	}
	if u.UUIDs = append(u.UUIDs, uuid); u.Err == nil {
		u.Err = err
	}
	return false
}

// err is nil when all could be decoded.
func (u *unread) err() error {
	if u.UUIDs == nil {
		return nil
	}
	u.Kind = u.kind
	return &u.UnreadableError
}

func decodeAll[T any](docs []string) ([]T, error) {
	var all []T
	for _, d := range docs {
		v, err := decode[T](d)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}
