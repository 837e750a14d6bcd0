package node

import (
	"context"
	"encoding/json"
	"time"
)

// ChangeEvent describes one change, and is committed with it. Doc is a JSON object, as nodeapi.Event. The other fields
// serve to select events.
type ChangeEvent struct {
	Position int64 // ascending in the order of the commits; the store's
	At       time.Time
	Type     string // node.state, port.created and so on
	Node     string // UUID; "" for none
	Group    string // the conductor group of the node
	Owner    string
	Lessee   string
	Doc      json.RawMessage
}

// EventLog is how far the events of a database reach.
type EventLog struct {
	ID     string // of the database
	Gone   int64  // events up to this position are deleted
	Newest int64  // the last position given, Gone when there are no events
}

// EventRetention bounds the events that are kept.
type EventRetention struct {
	Count  int       // the newest of them
	Since  time.Time // events from then on
	Needed int64     // later ones are still needed; negative for no need
}

type eventsKey struct{}

// WithEvents has the next write to a catalog with ctx commit events, too.
func WithEvents(ctx context.Context, events ...ChangeEvent) context.Context {
	return context.WithValue(ctx, eventsKey{}, events)
}

// EventsOf is the events that a write with ctx commits.
func EventsOf(ctx context.Context) []ChangeEvent {
	events, _ := ctx.Value(eventsKey{}).([]ChangeEvent)
	return events
}
