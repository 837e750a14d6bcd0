package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrHeld means that the database was restored from a backup and not resumed yet. It may lack the newest images.
var ErrHeld = errors.New("the database was restored from a backup, and `ferrite server resume` was not called yet")

// ImageDigests are the digests of all named images, sha256:hex. It fails with ErrHeld.
func (m *Members) ImageDigests(ctx context.Context) (digests []string, err error) {
	var (
		held bool
		all  string
	)
	const read = "SELECT EXISTS (SELECT FROM holds), coalesce((SELECT string_agg(DISTINCT digest, ' ') FROM images), '')"
	if err := m.db.QueryRowContext(ctx, read).Scan(&held, &all); err != nil {
		return nil, fmt.Errorf("read the digests of images: %w", err)
	}
	if held {
		return nil, ErrHeld
	}
	return strings.Fields(all), nil
}
