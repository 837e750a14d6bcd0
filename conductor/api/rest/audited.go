package rest

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Audit records requests and their senders. Begin comes first. Admit follows, if an identified sender may change
// something. Asked comes last, for requests to be recorded. Requests in parallel call the methods concurrently.
type Audit interface {
	// Begin attributes the work done with the returned context to a request.
	Begin(ctx context.Context) context.Context
	// Admit refuses a caller with too many recorded requests for now.
	Admit(c *auth.Caller) error
	// Asked records a request and its answer, before the client has all of the answer.
	Asked(ctx context.Context, a Asked)
}

// Asked is a request with its sender. Route is the path of its row, "" for none.
type Asked struct {
	Method, Path, Route, Request string
	From                         netip.Addr
	Status                       int
	Who                          auth.Note
}

// audited attributes a request to its sender. ended records it if it changes something, opens a console (which may be
// written to), or is refused for its sender. Requests of machines themselves are not recorded.
func (s *Server) audited(w http.ResponseWriter, r *http.Request) (noted *http.Request, ended func(string, int)) {
	if s.o.Audit == nil || s.o.Stranger != nil && s.o.Stranger(r.URL.Path) {
		return r, func(string, int) {}
	}
	ctx, who := auth.WithNote(s.o.Audit.Begin(r.Context()))
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !reads {
		who.Admit = s.o.Audit.Admit
	}
	return r.WithContext(ctx), func(route string, status int) {
		switch status {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusSwitchingProtocols:
		default:
			if reads {
				return
			}
		}
		s.o.Audit.Asked(ctx, Asked{Method: r.Method, Path: r.URL.Path, Route: route, From: clientaddr.Of(r),
			Status: status, Who: *who, Request: w.Header().Get(nodeapi.HeaderRequestID)})
	}
}

// StatusAborted is recorded for an answer that was cut off, as its client had gone or the disk was full. nginx uses the
// same status for a client that went away.
const StatusAborted = 499
