package nodeapi

import (
	"context"
	"errors"
	"net/http"
)

// WasCutOff reports whether a handler's error comes of the end of its request:
// the client has gone, or the conductor stops.
func WasCutOff(r *http.Request, err error) bool {
	return r.Context().Err() != nil || errors.Is(err, context.Canceled)
}

// CutOff makes the Fault for a request that was cut off, and has the connection
// closed. It is answered also where the client seems to have gone: it may have
// closed its sending half alone, and net/http makes a 200 of no answer.
func CutOff(w http.ResponseWriter) *Fault {
	w.Header().Set("Connection", "close")
	w.Header().Set("Retry-After", "1")
	return NewFault(http.StatusServiceUnavailable,
		"The conductor is stopping and has cut this request off. It may not have been carried out: check the resource "+
			"and repeat the request.")
}
