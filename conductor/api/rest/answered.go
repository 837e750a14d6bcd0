package rest

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// follow attributes the work for a request to the request, by Options.Follow. It does nothing without one, and for
// requests that anybody can send.
func (s *Server) follow(w http.ResponseWriter, r *http.Request) (*http.Request, func(route string, status int)) {
	if s.o.Follow == nil || s.o.Stranger != nil && s.o.Stranger(r.URL.Path) {
		return r, func(string, int) {}
	}
	return s.o.Follow(r, w.Header().Get(nodeapi.HeaderRequestID))
}

// outcome is a ResponseWriter that keeps the status of the answer, and the row that gave it.
type outcome struct {
	http.ResponseWriter
	began  time.Time
	route  string
	status int
}

// WriteHeader keeps the first final status.
func (o *outcome) WriteHeader(status int) {
	if o.status == 0 && status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		o.status = status
	}
	o.ResponseWriter.WriteHeader(status)
}

// Unwrap gives http.ResponseController the writer beneath.
func (o *outcome) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// routed notes the row that answers a request.
func routed(c echo.Context) {
	if o, ok := c.Response().Writer.(*outcome); ok {
		o.route = c.Path()
	}
}
