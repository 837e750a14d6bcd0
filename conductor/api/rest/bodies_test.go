package rest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestBodies: two large bodies of one address, three in all.
func TestBodies(t *testing.T) {
	const large = 10 * freeBody
	b := newBodies(2*large, 3*large)
	begin := func(from string, size int) (end func(), err error) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", strings.NewReader(strings.Repeat("x", size)))
		r.RemoteAddr = from + ":1"
		end = b.bound(r)
		_, err = nodeapi.ReadBody(httptest.NewRecorder(), r, large)
		return end, err
	}
	full := func(err error) bool {
		var f *nodeapi.Fault
		return errors.As(err, &f) && f.Status == http.StatusServiceUnavailable
	}
	let := func(from string) func() {
		t.Helper()
		end, err := begin(from, large)
		if err != nil {
			t.Fatalf("a body of %s: %v", from, err)
		}
		return end
	}
	first, second := let("10.0.0.1"), let("10.0.0.1")
	refused, err := begin("10.0.0.1", large)
	if !full(err) {
		t.Errorf("a third one of that address: %v", err)
	}
	refused()
	third := let("10.0.0.2")
	if refused, err = begin("10.0.0.3", large); !full(err) {
		t.Errorf("a fourth one in all: %v", err)
	}
	refused()
	small, err := begin("10.0.0.1", freeBody)
	if err != nil {
		t.Errorf("a small one: %v", err)
	}
	for _, end := range []func(){first, second, third, small} {
		end()
	}
	if b.all != 0 || len(b.by) != 0 {
		t.Errorf("%d bytes of %v are held by nobody", b.all, b.by)
	}
}

// TestLongAnswers: what slow readers have not taken does not pile up in memory,
// short answers always get through, and one that is longer than an address may
// have is given to who has no other.
func TestLongAnswers(t *testing.T) {
	a := &Server{answers: newBodies(10*freeBody, 15*freeBody)}
	a.buffers.New = func() any { return new([]byte) }
	answer := func(from string, size int, reading func()) int {
		w := &slowWriter{ResponseRecorder: httptest.NewRecorder(), reading: reading}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.RemoteAddr = from + ":1"
		err := a.Buffer(&Call{Context: echo.New().NewContext(r, w)}, http.StatusOK,
			func(dst []byte) []byte { return append(dst, make([]byte, size)...) })
		var fault *nodeapi.Fault
		if errors.As(err, &fault) {
			return fault.Status
		}
		return w.Code
	}
	nobody := func() {}
	want := map[string]int{"huge": 200, "another": 503, "short": 200, "of another address": 200, "of a third": 503,
		"afterwards": 200}
	got := map[string]int{}
	got["huge"] = answer("10.0.0.1", 100*freeBody, func() {
		got["another"] = answer("10.0.0.1", 2*freeBody, nobody)
		got["short"] = answer("10.0.0.1", freeBody, nobody)
		got["of another address"] = answer("10.0.0.2", 5*freeBody, func() {
			got["of a third"] = answer("10.0.0.3", 5*freeBody, nobody)
		})
	})
	got["afterwards"] = answer("10.0.0.1", 5*freeBody, nobody)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if a.answers.all != 0 || len(a.answers.by) != 0 {
		t.Errorf("%d bytes of %v are held by nobody", a.answers.all, a.answers.by)
	}
}

// slowWriter is a client that does something before it takes its answer.
type slowWriter struct {
	*httptest.ResponseRecorder
	reading func()
}

func (w *slowWriter) Write(p []byte) (int, error) {
	w.reading()
	return w.ResponseRecorder.Write(p)
}
