package objects

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Faults of a request. All but ErrStale and ErrExpired arrive as a *Refusal.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("exists already")
	// ErrConflict: the document has changed since it was read.
	ErrConflict = errors.New("has been modified")
	ErrInvalid  = errors.New("invalid")
	// ErrForbidden: no document can make it right.
	ErrForbidden = errors.New("forbidden")
	// ErrExpired: the events after a revision are no longer kept. Followers list again.
	ErrExpired = errors.New("the events after this revision are no longer kept: list again, and watch from there")
	// ErrStale is an error of stores: a row has another revision than expected.
	ErrStale = errors.New("another row than was expected")
	// ErrSealed: a secret is sealed with another key.
	ErrSealed = errors.New("a secret that is sealed with another key, or damaged")
)

// UnreadableError lists the documents of a list that cannot be decoded. The others are returned all the same, so that
// work on all documents can go on.
type UnreadableError struct {
	Keys []Key
	Err  error // the error of the first
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("%d documents cannot be read (%s and so on): repair or delete them in the database: %v",
		len(e.Keys), e.Keys[0], e.Err)
}

// Unwrap returns the error of the first.
func (e *UnreadableError) Unwrap() error { return e.Err }

// Refusal is a request that was not done, in words for its sender.
type Refusal struct {
	Key     Key
	Cause   error // one of this package's
	Message string
	Causes  []hostapi.Problem // with ErrInvalid
}

func (r *Refusal) Error() string { return r.Message }

// Unwrap makes errors.Is find the cause.
func (r *Refusal) Unwrap() error { return r.Cause }

func refuse(k Key, cause error, format string, args ...any) error {
	return &Refusal{Key: k, Cause: cause, Message: k.String() + " " + fmt.Sprintf(format, args...)}
}

func notFound(k Key) error { return refuse(k, ErrNotFound, "not found") }

func invalid(k Key, problems []hostapi.Problem) error {
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.String())
	}
	return &Refusal{
		Key: k, Cause: ErrInvalid, Causes: problems, Message: k.String() + " is invalid: " + strings.Join(texts, "; "),
	}
}
