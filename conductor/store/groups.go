package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// ours reports whether nodes of a group are written by this conductor.
func (t *tx) ours(group string) bool { return t.group == nil || group == *t.group }

// checkGroup refuses to write a node of another group. The leader of that group caches its own writes and would miss
// this one.
func (t *tx) checkGroup(uuid string) error {
	if t.group == nil {
		return nil
	}
	other, found := "", false
	err := t.query(func(scan func(...any) error) error {
		found = true
		return scan(&other)
	}, "SELECT conductor_group FROM nodes WHERE uuid = ? AND conductor_group <> ?", uuid, *t.group)
	if err == nil && found {
		err = &node.OtherGroupError{Node: uuid, Group: other}
	}
	return err
}

// Conditions that limit a statement to the nodes of this conductor. The last argument is its group.
const (
	nodesOfGroup   = " AND conductor_group = ?"
	effectsOfGroup = " AND node IN (SELECT uuid FROM nodes WHERE conductor_group = ?)"
)

// limited is a statement as it is, or with a limit to this conductor's nodes.
func (s *Database) limited(text, limit, rest string, args ...any) (string, []any) {
	if s.group == nil {
		return text + rest, args
	}
	return text + limit + rest, append(args, *s.group)
}

// CountInGroups is how many nodes of some groups that no project owns are in one of some states.
func (s *Database) CountInGroups(ctx context.Context, groups []string, in map[node.State]bool) (count int, err error) {
	var args []any
	for _, group := range groups {
		args = append(args, group)
	}
	for state, counts := range in {
		if counts {
			args = append(args, string(state))
		}
	}
	if len(groups) == 0 || len(args) == len(groups) {
		return 0, nil
	}
	text := "SELECT count(*) FROM nodes WHERE conductor_group IN (" + marks(len(groups)) + ") AND provision_state IN (" +
		marks(len(args)-len(groups)) + ") AND coalesce(owner, '') = ''"
	if err = s.read.each(ctx, func(rows *sql.Rows) error { return rows.Scan(&count) }, text, args...); err != nil {
		err = fmt.Errorf("count the nodes of other groups: %w", err)
	}
	return count, err
}

// marks stand for n arguments of a statement.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }
