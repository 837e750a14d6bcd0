package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Events are in the order of their commits. In SQLite one transaction writes at a time, so that the ids are in that
// order. In PostgreSQL an event gets its position after its commit: a counter that transactions keep locked until they
// are committed would let only one of them commit at a time. An event that was committed before another one was begun
// has the lower id, so it gets the lower position, too.

// putEvents writes events in the transaction of the change that caused them.
func (t *tx) putEvents(events []node.ChangeEvent) error {
	for i := range events {
		e := &events[i]
		if _, err := t.exec("INSERT INTO events (at, type, node_uuid, conductor_group, owner, lessee, doc) "+
			"VALUES (?, ?, ?, ?, ?, ?, ?)", micros(e.At), e.Type, e.Node, e.Group, e.Owner, e.Lessee,
			string(e.Doc)); err != nil {
			return fmt.Errorf("write the event %s: %w", e.Type, err)
		}
	}
	return nil
}

// PutEvents writes events without a change of a node.
func (s *Database) PutEvents(ctx context.Context, events []node.ChangeEvent) error {
	return s.w.do(ctx, func(t *tx) error { return t.putEvents(events) })
}

// Events lists at most limit events after a position, in their order.
func (s *Database) Events(ctx context.Context, after int64, limit int) (found []node.ChangeEvent, err error) {
	position := s.dialect.position
	err = s.read.each(ctx, func(rows *sql.Rows) error {
		var e node.ChangeEvent
		var at int64
		var doc string
		if err := rows.Scan(&e.Position, &at, &e.Type, &e.Node, &e.Group, &e.Owner, &e.Lessee, &doc); err != nil {
			return err
		}
		e.At, e.Doc = time.UnixMicro(at).UTC(), []byte(doc)
		e.Group, e.Owner, e.Lessee = s.dialect.read(e.Group), s.dialect.read(e.Owner), s.dialect.read(e.Lessee)
		found = append(found, e)
		return nil
	}, "SELECT "+position+", at, type, node_uuid, conductor_group, owner, lessee, doc FROM events WHERE "+position+
		" > ? ORDER BY "+position+" LIMIT ?", max(after, 0), limit)
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	return found, nil
}

// EventLog says how far the events reach.
func (s *Database) EventLog(ctx context.Context) (node.EventLog, error) {
	var l node.EventLog
	err := s.read.row(ctx, []any{&l.ID, &l.Gone, &l.Newest},
		"SELECT id, gone, coalesce((SELECT max("+s.dialect.position+") FROM events), gone) FROM event_log")
	if err != nil {
		return l, fmt.Errorf("read the log of events: %w", err)
	}
	l.Newest = max(l.Newest, l.Gone)
	return l, nil
}

// sequenceBatch bounds the events that get their positions in one transaction.
const sequenceBatch = 1000

// SequenceEvents gives committed events their positions, and reports whether there may be more. In SQLite they have
// them.
func (s *Database) SequenceEvents(ctx context.Context) (more bool, err error) {
	if s.dialect.position == "id" {
		return false, nil
	}
	waiting, err := s.read.texts(ctx, "SELECT 'x' FROM events WHERE position = 0 LIMIT 1")
	if err != nil || len(waiting) == 0 {
		return false, err
	}
	err = s.w.do(ctx, func(t *tx) error {
		var last int64
		if err := t.query(func(scan func(...any) error) error { return scan(&last) },
			"SELECT position FROM event_log"+t.forUpdate); err != nil {
			return err
		}
		touched, err := t.exec(`UPDATE events SET position = waiting.place + ?1 FROM (
			SELECT id, row_number() OVER (ORDER BY id) AS place FROM events WHERE position = 0 ORDER BY id LIMIT ?2
		) AS waiting WHERE events.id = waiting.id`, last, sequenceBatch)
		if err != nil {
			return err
		}
		more = touched == sequenceBatch
		_, err = t.exec("UPDATE event_log SET position = ?", last+touched)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("give events their positions: %w", err)
	}
	return more, nil
}

// pruneBatch bounds the events that one transaction deletes.
const pruneBatch = 500

// PruneEvents deletes the oldest events that need not be kept, at most a batch, and reports how many.
func (s *Database) PruneEvents(ctx context.Context, keep node.EventRetention) (int, error) {
	l, err := s.EventLog(ctx)
	if err != nil {
		return 0, err
	}
	oldest, err := s.Events(ctx, l.Gone, pruneBatch)
	if err != nil {
		return 0, err
	}
	cut := l.Gone
	for _, e := range oldest {
		if keep.Needed >= 0 && e.Position > keep.Needed ||
			e.Position > l.Newest-int64(keep.Count) && !e.At.Before(keep.Since) {
			break
		}
		cut = e.Position
	}
	if cut == l.Gone {
		return 0, nil
	}
	var touched int64
	err = s.w.do(freeing(ctx), func(t *tx) error {
		position := t.position
		if touched, err = t.exec("DELETE FROM events WHERE "+position+" > 0 AND "+position+" <= ?", cut); err != nil {
			return err
		}
		_, err := t.exec("UPDATE event_log SET gone = ? WHERE gone < ?", cut, cut)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("delete old events: %w", err)
	}
	return int(touched), nil
}
