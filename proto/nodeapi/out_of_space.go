package nodeapi

import (
	"errors"
	"net/http"
	"syscall"
)

// Unavailable makes the Fault for an error that may be gone soon: 503, with the error's own words. It is nil for other
// errors. A store's error says so by a method Unavailable.
func Unavailable(err error) *Fault {
	var marked interface {
		error
		Unavailable()
	}
	if !errors.As(err, &marked) {
		return nil
	}
	return NewFault(http.StatusServiceUnavailable, "The database was lost amid this request: %s.", marked.Error())
}

// OutOfSpace makes the Fault for an error that comes of a full disk or an
// exhausted quota: 507 (RFC 4918, 11.5). It is nil for other errors. A store's
// error says so by a method OutOfSpace.
func OutOfSpace(err error) *Fault {
	var marked interface{ OutOfSpace() }
	if !errors.As(err, &marked) && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return nil
	}
	return NewFault(http.StatusInsufficientStorage,
		"The disk under the conductor's data folder is full: nothing of this request was written, and nothing written "+
			"before is lost. Make room there and repeat the request.")
}
