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

// logOf is the log for what is said of a request: it names it by our ID, and by
// the one of the request elsewhere that it is a part of. As in Ironic (oslo's
// middleware) an ID that comes in never becomes that of the answer, and is left
// out when it is none: whoever sends it could otherwise write what he likes.
func (s *Server) logOf(r *http.Request, id string) *slog.Logger {
	log := s.Log.With("method", r.Method, "path", r.URL.Path, "request", id)
	if global := r.Header.Get(nodeapi.HeaderRequestIDX); requestID.MatchString(global) {
		log = log.With("global_request", global)
	}
	return log
}
