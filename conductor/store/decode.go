package store

import (
	"encoding/json"
	"fmt"
)

func decode[T any](doc string) (T, error) {
	var v T
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		return v, fmt.Errorf("the database holds a %T that cannot be read: %w", v, err)
	}
	return v, nil
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
