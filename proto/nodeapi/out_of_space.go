package nodeapi

import (
	"errors"
	"net/http"
	"syscall"
)

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
