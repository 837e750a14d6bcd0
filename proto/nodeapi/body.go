package nodeapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Limits on JSON bodies: bytes and levels of nesting, which are Ironic's own,
// and values and keys, of which the largest machines report some ten thousand.
const (
	BodyLimit       = 1 << 20
	ProvisionLimit  = 64 << 20 // a config drive
	InspectionLimit = 16 << 20
	maxDepth        = 25
	maxValues       = 100_000
)

// ReadBody reads the JSON body of a request with any content type, as Ironic does. It returns nil when there is none;
// errors are Faults, the body's own among them.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	raw, err := ReadBytes(w, r, limit)
	if err != nil || len(bytes.TrimSpace(raw)) == 0 {
		return nil, err
	}
	if err := CheckJSON(raw); err != nil {
		return nil, NewFault(http.StatusBadRequest, "Invalid JSON in the request body: %v", err)
	}
	return raw, nil
}

// ReadBytes reads a request's body of at most limit bytes; its error is a Fault.
func ReadBytes(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooBig *http.MaxBytesError
	var fault *Fault
	switch {
	case errors.As(err, &fault):
		return nil, fault
	case errors.As(err, &tooBig):
		return nil, NewFault(http.StatusRequestEntityTooLarge, "Request body is larger than the limit of %d bytes", limit)
	case err != nil:
		return nil, NewFault(http.StatusBadRequest, "The request body ended early: %v", err)
	}
	return raw, nil
}

// CheckJSON refuses JSON that nests deeper or has more values than a body may.
func CheckJSON(raw []byte) error { return CheckShape(raw, maxDepth, maxValues) }
