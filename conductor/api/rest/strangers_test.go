package rest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestStrangersBodies: among strangers' bodies, the address that holds most gives way. Operators have room of their
// own.
func TestStrangersBodies(t *testing.T) {
	const large = 10 * freeBody
	stranger := func(path string) bool { return !strings.HasPrefix(path, "/v1/nodes") }
	a := &Server{o: Options{Stranger: stranger}, bodies: newBodies(4*large, 4*large),
		strangers: newYielding(2*large, 4*large)}
	var ends []func()
	begin := func(path, from string) (body *counted) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path,
			strings.NewReader(strings.Repeat("x", large+freeBody)))
		r.RemoteAddr = from + ":1"
		ends = append(ends, a.bodiesOf(r.URL.Path).bound(r))
		c, _ := r.Body.(*counted)
		return c
	}
	read := func(c *counted, n int64) error {
		_, err := io.CopyN(io.Discard, c, n)
		return err
	}
	whole := func(path, from string) *counted {
		t.Helper()
		c := begin(path, from)
		if err := read(c, large+freeBody); err != nil {
			t.Fatalf("%s to %s: %v", from, path, err)
		}
		return c
	}
	const heartbeat, inspection = "/v1/heartbeat/u", "/v1/continue_inspection"
	first, second := whole(inspection, "10.0.0.1"), whole(inspection, "[2001:db8::1]")
	third, fourth := whole(heartbeat, "10.0.0.1"), whole(inspection, "[2001:db8::2]")
	if read(begin(inspection, "10.0.0.1"), large) == nil {
		t.Error("one address has more than its share")
	}
	if read(begin(inspection, "[2001:db8::3]"), large) == nil {
		t.Error("one IPv6 /64 has more than an address's share")
	}
	whole("/v1/nodes", "10.0.0.1") // an operator's

	fifth := begin("/ferrite/v1/agents/u/log", "10.0.0.2")
	if err := read(fifth, large+freeBody); err != nil {
		t.Errorf("one that holds nothing: %v", err)
	}
	gone := 0
	for _, c := range []*counted{first, second, third, fourth} {
		if c.gone {
			gone++
		}
	}
	if gone != 1 {
		t.Errorf("%d bodies were cut off for it, want 1", gone)
	}
	for _, end := range ends {
		end()
	}
	for name, b := range map[string]*bodies{"agents": a.strangers, "operators": a.bodies} {
		if b.all != 0 || len(b.by) != 0 || len(b.cut) != 0 {
			t.Errorf("%s: %d bytes of %v are held by nobody, %d are open", name, b.all, b.by, len(b.cut))
		}
	}
}
