package rest

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Audit keeps record of who asked for what.
type Audit interface {
	// Begin follows what is done for a request.
	Begin(ctx context.Context) context.Context
	// Admit refuses a caller who may have no more requests recorded for now.
	Admit(c *auth.Caller) error
	// Asked is told of a request with its answer, before the client has all of that.
	Asked(ctx context.Context, a Asked)
}

// Asked is a request and who sent it. Route is the path of its row, "" for none.
type Asked struct {
	Method, Path, Route, Request string
	From                         netip.Addr
	Status                       int
	Who                          auth.Note
}

// audited answers a request, of which a record is kept: one that changes something, opens a console (which may be
// written to), or is refused for its sender. Machines' own requests are none of these.
func (s *Server) audited(w http.ResponseWriter, r *http.Request, answer func(*http.Request) (int, string)) {
	if s.o.Audit == nil || s.o.Stranger != nil && s.o.Stranger(r.URL.Path) {
		answer(r)
		return
	}
	ctx, who := auth.WithNote(s.o.Audit.Begin(r.Context()))
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !reads {
		who.Admit = s.o.Audit.Admit
	}
	status, route := StatusAborted, ""
	defer func() { // also where the answer was aborted: something may have been done by then
		switch status {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusSwitchingProtocols:
		default:
			if reads {
				return
			}
		}
		s.o.Audit.Asked(ctx, Asked{Method: r.Method, Path: r.URL.Path, Route: route, From: clientaddr.Of(r),
			Status: status, Who: *who, Request: w.Header().Get(nodeapi.HeaderRequestID)})
	}()
	status, route = answer(r.WithContext(ctx))
}

// StatusAborted stands for the status of an answer that was cut off, as its client had gone or the disk was full. It is
// that of nginx for a client that went away.
const StatusAborted = 499
