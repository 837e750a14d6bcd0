package node

import (
	"errors"
	"fmt"
	"strings"
)

// The errors every store and the engine answer with, wrapped; match with
// errors.Is.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("conflict")
	ErrStale    = errors.New("revision is stale")
	ErrFenced   = errors.New("effect is no longer ours")
)

// Kind is the sort of a refusal; package api turns it into a status code.
type Kind int

// The kinds of refusal.
const (
	Invalid      Kind = iota // 400: the request itself is wrong
	InvalidState             // 400: not in this state
	NotFound                 // 404
	Conflict                 // 409: a name, UUID or address is taken, or the state forbids it
	Locked                   // 409: an operation is under way
	Forbidden                // 403: protected
	Busy                     // 503: no worker
	BMCFailed                // 502: the BMC did not do it, or is not reached
	BMCSilent                // 504: the BMC did not answer in time
	Lacking                  // 400: the BMC has no such ability: a run goes on without it where it can
)

// Refusal is a request that was refused before anything was changed.
type Refusal struct {
	Kind   Kind
	Reason string
}

func (r *Refusal) Error() string { return r.Reason }

// Is lets errors.Is find ErrNotFound and ErrConflict in refusals of those kinds.
func (r *Refusal) Is(target error) bool {
	return r.Kind == NotFound && target == ErrNotFound || r.Kind == Conflict && target == ErrConflict
}

// Refuse makes a Refusal.
func Refuse(k Kind, format string, args ...any) error {
	return &Refusal{Kind: k, Reason: fmt.Sprintf(format, args...)}
}

// UnreadableError lists the records of a list that cannot be decoded. The others are returned all the same, so that
// work on all records can go on.
type UnreadableError struct {
	Kind  string   // "node"
	UUIDs []string // of the unreadable records
	Last  string   // the last one of the list, whether it can be read or not
	Err   error    // the error of the first
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("%d of the %ss cannot be read (%s): repair or delete them in the database: %v", len(e.UUIDs),
		e.Kind, strings.Join(e.UUIDs, ", "), e.Err)
}

// Unwrap returns the error of the first.
func (e *UnreadableError) Unwrap() error { return e.Err }

// InvalidEventError says that an event is not allowed in a state.
type InvalidEventError struct {
	State State
	Event Event
}

func (e *InvalidEventError) Error() string {
	return fmt.Sprintf("event %q is not allowed in state %q", e.Event, e.State)
}

// OtherGroupError refuses a write to a node of a group that another conductor leads.
type OtherGroupError struct{ Node, Group string }

func (e *OtherGroupError) Error() string {
	return fmt.Sprintf("node %s is in the conductor group %q, which another conductor leads", e.Node, e.Group)
}

// Unwrap is a Refusal of the kind Busy.
func (e *OtherGroupError) Unwrap() error { return &Refusal{Kind: Busy, Reason: e.Error()} }
