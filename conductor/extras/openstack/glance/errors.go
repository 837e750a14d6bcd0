package glance

import (
	"errors"
	"fmt"
	"net/http"
)

// StatusError is an unexpected answer of Glance. Its body is left out: it may come from another server. Its URL is left
// out, too, and is in the log: users that deploy an image need no access there.
type StatusError struct {
	For    string // the question
	Status int
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("Glance answered %d %s for %s%s", e.Status, http.StatusText(e.Status), e.For, remedies[e.Status])
}

// remedies are the remedies by status.
var remedies = map[int]string{
	http.StatusUnauthorized: ": it does not take the conductor's token; with --glance-url alone none is shown: see " +
		"--auth keystone",
}

// Permanent reports whether trying again later is of no use.
func (e *StatusError) Permanent() bool {
	return e.Status < 500 && e.Status != http.StatusTooManyRequests && e.Status != http.StatusRequestTimeout
}

// status is the status of an answer; 0 for other errors, and none.
func status(err error) int {
	var s *StatusError
	if errors.As(err, &s) {
		return s.Status
	}
	return 0
}

// refusal is an error that no other try can mend.
type refusal struct{ error }

func refused(err error) error { return refusal{err} }

// Permanent says that trying again does not help.
func (refusal) Permanent() bool { return true }

// Unwrap gives the error.
func (r refusal) Unwrap() error { return r.error }
