package rest

import (
	"log/slog"
	"net/http"
	"regexp"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func newRequestID() string { return "req-" + uuid.NewString() }

// requestID is an ID as every OpenStack service makes them.
var requestID = regexp.MustCompile(`^req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// logOf is the logger of a request. It adds our ID of the request, and the global ID of which the request is a part. As
// in Ironic (oslo's middleware) an incoming ID never becomes the answer's. It is left out if malformed: its sender
// could otherwise write any text to the log.
func (s *Server) logOf(r *http.Request, id string) *slog.Logger {
	log := s.Log.With("method", r.Method, "path", r.URL.Path, "request", id)
	if global := r.Header.Get(nodeapi.HeaderRequestIDX); requestID.MatchString(global) {
		log = log.With("global_request", global)
	}
	return log
}
