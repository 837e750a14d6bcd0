package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

const effectColumns = "id, node, generation, name, args, run_at, owner, attempt, lease_until, error, sealed, " +
	"accepted"

// fence finds an effect only while it is held by this very attempt.
const fence = " WHERE id = ? AND owner = ? AND attempt = ?"

func fenced(e *node.Effect) error {
	return fmt.Errorf("effect %d (%s of node %s, attempt %d): %w", e.ID, e.Name, e.Node, e.Attempt, node.ErrFenced)
}

// held runs a statement that ends in fence and checks that it found e.
func (t *tx) held(e *node.Effect, text string, args ...any) error {
	touched, err := t.exec(text+fence, append(args, e.ID, e.Owner, e.Attempt)...)
	if err == nil && touched == 0 {
		return fenced(e)
	}
	return err
}

func (t *tx) finish(e *node.Effect) error { return t.held(e, "DELETE FROM effects") }

// insertEffect adds an unclaimed effect.
func (t *tx) insertEffect(e *node.Effect) error {
	args, envelope, err := t.seal.sealArgs(effectKey(e), e.Args)
	if err != nil {
		return fmt.Errorf("seal the arguments of %s of node %s: %w", e.Name, e.Node, err)
	}
	_, err = t.exec("INSERT INTO effects (node, generation, name, args, sealed, run_at) VALUES (?, ?, ?, ?, ?, ?)",
		e.Node, e.Generation, e.Name, args, blob(envelope), micros(e.RunAt))
	if _, ok := taken(err); ok {
		return fmt.Errorf("node %s has a pending effect already, %s cannot be added: %w", e.Node, e.Name, node.ErrConflict)
	}
	if orphan(err) {
		return noNode(e.Node)
	}
	return err
}

// hurry makes the effect of a node due, unless a worker has claimed it.
func (t *tx) hurry(nodeUUID string) error {
	_, err := t.exec("UPDATE effects SET run_at = 0 WHERE node = ? AND owner = ''", nodeUUID)
	return err
}

// effectRow has a place for every column of effectColumns.
type effectRow struct {
	e                 node.Effect
	args, accepted    string
	sealed            []byte // its arguments, where one of them is secret
	runAt, leaseUntil int64
}

func (r *effectRow) places() []any {
	return []any{&r.e.ID, &r.e.Node, &r.e.Generation, &r.e.Name, &r.args, &r.runAt, &r.e.Owner, &r.e.Attempt,
		&r.leaseUntil, &r.e.Error, &r.sealed, &r.accepted}
}

// effectKey binds sealed arguments to their effect, which has no id when they are sealed.
func effectKey(e *node.Effect) string {
	return e.Node + " " + e.Name + " " + strconv.FormatInt(e.Generation, 10)
}

// effect decodes the row. If its arguments cannot be opened, the effect has none, and its Error has the reason. It
// fails when it is carried out, so that the effects of other nodes go on.
func (r *effectRow) effect(seal sealer, d dialect) node.Effect {
	r.e.Error = d.read(r.e.Error)
	r.e.RunAt, r.e.LeaseUntil, r.e.Args = fromMicros(r.runAt), fromMicros(r.leaseUntil), raw(r.args)
	if r.accepted != "" {
		if err := json.Unmarshal([]byte(r.accepted), &r.e.Accepted); err != nil {
			r.e.Args, r.e.Error = nil, "which actions were accepted cannot be read: "+err.Error()
			return r.e
		}
	}
	if len(r.sealed) > 0 {
		args, err := seal.openBytes("effects", effectKey(&r.e), r.sealed)
		if r.e.Args = args; err != nil {
			r.e.Args, r.e.Error = nil, err.Error()
		}
	}
	return r.e
}

// PendingEffect returns the pending effect of a node.
func (s *Database) PendingEffect(ctx context.Context, nodeUUID string) (*node.Effect, error) {
	var r effectRow
	err := s.read.row(ctx, r.places(), "SELECT "+effectColumns+" FROM effects WHERE node = ?", nodeUUID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the pending effect of node %s: %w", nodeUUID, err)
	}
	e := r.effect(s.seal, s.dialect)
	return &e, nil
}

// NodesWithEffects returns the nodes that have a pending effect.
func (s *Database) NodesWithEffects(ctx context.Context) ([]string, error) {
	text, args := s.limited("SELECT node FROM effects WHERE TRUE", effectsOfGroup, "")
	uuids, err := s.read.texts(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("list the nodes that have a pending effect: %w", err)
	}
	return uuids, nil
}

// claimEffects leases effects of some nodes.
func claimEffects(d dialect) string {
	return "UPDATE effects SET owner = ?, attempt = attempt + 1, lease_until = ? WHERE run_at <= ? AND " +
		"lease_until <= ? " +
		"AND node IN (" + d.among + ") RETURNING " + effectColumns
}

// Unclaimed lists the effects without a valid lease.
func (s *Database) Unclaimed(ctx context.Context, now time.Time) ([]node.Effect, error) {
	var all []node.Effect
	text, args := s.limited("SELECT id, node, name, run_at FROM effects WHERE lease_until <= ?", effectsOfGroup,
		" ORDER BY run_at, id", micros(now))
	err := s.read.each(ctx, func(rows *sql.Rows) error {
		var e node.Effect
		var runAt int64
		if err := rows.Scan(&e.ID, &e.Node, &e.Name, &runAt); err != nil {
			return err
		}
		e.RunAt = fromMicros(runAt)
		all = append(all, e)
		return nil
	}, text, args...)
	if err != nil {
		return nil, fmt.Errorf("list the unclaimed effects: %w", err)
	}
	return all, nil
}

// Claim leases the effects of nodes, as far as they are due.
func (s *Database) Claim(
	ctx context.Context, owner string, now time.Time, lease time.Duration, nodes []string,
) ([]node.Effect, error) {
	if len(nodes) == 0 {
		return nil, nil
	}
	var got []node.Effect
	err := s.w.do(freeing(ctx), func(t *tx) error {
		got = nil
		return t.query(func(scan func(...any) error) error {
			var r effectRow
			if err := scan(r.places()...); err != nil {
				return err
			}
			got = append(got, r.effect(t.seal, t.dialect))
			return nil
		}, s.claim, owner, micros(now.Add(lease)), micros(now), micros(now),
			t.list(nodes))
	})
	if err != nil {
		return nil, fmt.Errorf("claim effects: %w", err)
	}
	// RETURNING promises no order.
	slices.SortFunc(got, func(a, b node.Effect) int {
		if c := a.RunAt.Compare(b.RunAt); c != 0 {
			return c
		}
		return int(a.ID - b.ID)
	})
	return got, nil
}

// Renew prolongs a lease.
func (s *Database) Renew(ctx context.Context, e node.Effect, until time.Time) error {
	return s.w.do(freeing(ctx), func(t *tx) error {
		return t.held(&e, "UPDATE effects SET lease_until = ?", micros(until))
	})
}

// Note keeps the accepted actions of an effect, and the reason for which it waits.
func (s *Database) Note(ctx context.Context, e node.Effect) error {
	accepted, err := json.Marshal(e.Accepted)
	if err != nil {
		return fmt.Errorf("keep the accepted actions of %s: %w", e.Name, err)
	}
	return s.w.do(freeing(ctx), func(t *tx) error {
		return t.held(&e, "UPDATE effects SET accepted = ?, error = ?", string(accepted), e.Error)
	})
}

// Release gives an effect back.
func (s *Database) Release(ctx context.Context, e node.Effect, runAt time.Time, why string) error {
	return s.w.do(freeing(ctx), func(t *tx) error {
		return t.held(&e, "UPDATE effects SET owner = '', lease_until = 0, run_at = ?, error = ?", micros(runAt), why)
	})
}

// FurthestDue is how long after a takeover an effect may be due at most.
const FurthestDue = time.Hour

// Takeover voids every lease of owner. In a term it voids the leases of all owners, because only one member leads the
// group.
func (s *Database) Takeover(ctx context.Context, owner string, now time.Time) (int, error) {
	var n int64
	const void = "UPDATE effects SET owner = '', lease_until = 0 WHERE owner <> ''"
	text, args := void+" AND owner = ?", []any{owner}
	if s.group != nil {
		text, args = void+effectsOfGroup, []any{*s.group}
	}
	forward, due := s.limited("UPDATE effects SET run_at = ? WHERE run_at > ?", effectsOfGroup, "", micros(now),
		micros(now.Add(FurthestDue)))
	err := s.w.do(freeing(ctx), func(t *tx) (err error) {
		if n, err = t.exec(text, args...); err == nil {
			_, err = t.exec(forward, due...)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("take over the leases of %s: %w", owner, err)
	}
	return int(n), nil
}
