package node

import (
	"errors"
	"fmt"
)

// The errors every store and the engine answer with, wrapped; match with
// errors.Is.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("conflict")
	ErrStale    = errors.New("revision is stale")
	ErrFenced   = errors.New("effect is no longer ours")
)

// Kind says what sort of refusal a request met; package api turns it into a
// status code.
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
	BMCFailed                // 500: the BMC did not do it, or did not answer
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

// InvalidEventError says that an event is not allowed in a state.
type InvalidEventError struct {
	State State
	Event Event
}

func (e *InvalidEventError) Error() string {
	return fmt.Sprintf("event %q is not allowed in state %q", e.Event, e.State)
}
