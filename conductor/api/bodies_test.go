package api

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
