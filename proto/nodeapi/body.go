package nodeapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Limits on JSON bodies, Ironic's own: bytes, and levels of nesting.
const (
	BodyLimit       = 1 << 20
	ProvisionLimit  = 64 << 20 // a config drive
	InspectionLimit = 16 << 20
	maxDepth        = 25
)

// ReadBody reads the JSON body of a request, whatever its content type says,
// as Ironic does. It returns nil when there is none; errors are Faults.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig):
		return nil, NewFault(http.StatusRequestEntityTooLarge, "Request body is larger than the limit of %d bytes", limit)
	case err != nil:
		return nil, NewFault(http.StatusBadRequest, "The request body ended early: %v", err)
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, nil
	case tooDeep(raw, maxDepth):
		return nil, NewFault(http.StatusBadRequest, "Invalid JSON in the request body: nested deeper than %d levels", maxDepth)
	}
	return raw, nil
}
