package store

import (
	"context"
	"fmt"
	"time"
)

const (
	selectExpired        = "SELECT uuid FROM nodes WHERE deadline > 0 AND deadline <= ? ORDER BY deadline, id LIMIT ?"
	selectExpiredOfGroup = "SELECT uuid FROM nodes WHERE deadline > 0 AND deadline <= ?1 AND conductor_group = ?3 " +
		"ORDER BY deadline, id LIMIT ?2"
)

// Expired lists the nodes of this conductor with a deadline at or before now, by UUID.
func (s *Database) Expired(ctx context.Context, now time.Time, limit int) ([]string, error) {
	if limit <= 0 {
		return nil, nil
	}
	text, args := selectExpired, []any{micros(now), limit}
	if s.group != nil {
		text, args = selectExpiredOfGroup, append(args, *s.group)
	}
	uuids, err := s.read.texts(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("list nodes past their deadline: %w", err)
	}
	return uuids, nil
}

// NextDeadline is the earliest deadline of all.
func (s *Database) NextDeadline(ctx context.Context) (time.Time, bool, error) {
	var us *int64
	text, args := s.limited("SELECT min(deadline) FROM nodes WHERE deadline > 0", nodesOfGroup, "")
	if err := s.read.row(ctx, []any{&us}, text, args...); err != nil {
		return time.Time{}, false, fmt.Errorf("read the next deadline: %w", err)
	}
	at, ok := earliest(us)
	return at, ok, nil
}
