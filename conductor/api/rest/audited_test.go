package rest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
)

// told is an audit that records the status of requests.
type told struct{ status []int }

func (*told) Begin(ctx context.Context) context.Context { return ctx }
func (*told) Admit(*auth.Caller) error                  { return nil }
func (a *told) Asked(_ context.Context, of Asked)       { a.status = append(a.status, of.Status) }

// TestAborted: a request with an answer that was cut off has been done, at least in part. It is recorded like any
// other.
func TestAborted(t *testing.T) {
	audit := &told{}
	s := NewServer(Options{Audit: audit, Log: slog.New(slog.DiscardHandler)})
	s.echo.Any("/v1/nodes/n", func(echo.Context) error { panic(http.ErrAbortHandler) })
	for method, recorded := range map[string]int{http.MethodDelete: 1, http.MethodGet: 0} {
		audit.status = nil
		func() {
			defer func() {
				if recover() != http.ErrAbortHandler { //nolint:errorlint // the very value, as net/http compares it
					t.Error("the answer is not aborted")
				}
			}()
			r := httptest.NewRequest(method, "/v1/nodes/n", nil)
			s.answer(httptest.NewRecorder(), r)
		}()
		if len(audit.status) != recorded || recorded > 0 && audit.status[0] != StatusAborted {
			t.Errorf("%s that was aborted is recorded as %v", method, audit.status)
		}
	}
}

// TestRecorded: a request that changes something, opens a console or is refused for its sender is recorded.
func TestRecorded(t *testing.T) {
	for request, recorded := range map[string]bool{
		"GET 200": false, "GET 404": false, "GET 401": true, "GET 403": true, "GET 101": true, "HEAD 403": true,
		"POST 201": true, "DELETE 404": true,
	} {
		audit := &told{}
		method, text, _ := strings.Cut(request, " ")
		status, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		s := &Server{o: Options{Audit: audit}}
		_, ended := s.audited(httptest.NewRecorder(), httptest.NewRequest(method, "/v1/nodes/n", nil))
		ended("", status)
		if (len(audit.status) == 1) != recorded {
			t.Errorf("%s is recorded as %v", request, audit.status)
		}
	}
}
