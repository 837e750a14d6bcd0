package rest

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// answer answers by a row, and tells of it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	if s.o.Answered == nil {
		s.echo.ServeHTTP(w, r)
		return
	}
	seen := &outcome{began: time.Now()}
	defer func() {
		if seen.status == 0 { // it panicked
			seen.status = http.StatusInternalServerError
		}
		s.o.Answered(r.Method, seen.route, seen.status, time.Since(seen.began))
	}()
	s.echo.ServeHTTP(seen.of(w), r)
	if seen.status == 0 {
		seen.status = http.StatusOK
	}
}

// outcome is a ResponseWriter that keeps the status of the answer, and the row that gave it.
type outcome struct {
	http.ResponseWriter
	began  time.Time
	route  string
	status int
}

func (o *outcome) of(w http.ResponseWriter) *outcome {
	o.ResponseWriter = w
	return o
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
