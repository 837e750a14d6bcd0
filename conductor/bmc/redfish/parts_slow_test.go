package redfish

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestSlowParts: if a BMC is too slow for all parts of a kind, the report has those that came in time, and names the
// rest.
func TestSlowParts(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"@odata.id":"/redfish/v1/"}`))
	}))
	defer web.Close()
	d := New(Options{})
	defer func() { _ = d.Close() }()
	clock := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	read := 0
	var p *parts
	err := d.call(t.Context(), node.Node{UUID: "n1", DriverInfo: map[string]any{"redfish_address": web.URL}}, "read",
		func(s *session) error {
			p = &parts{session: s, within: 10 * time.Second, now: func() time.Time {
				clock = clock.Add(3 * time.Second)
				return clock
			}}
			p.begin()
			return each(p, "modules",
				[]string{"/redfish/v1/1", "/redfish/v1/2", "/redfish/v1/3", "/redfish/v1/4", "/redfish/v1/5"},
				func(string, struct{}) { read++ })
		})
	if err != nil || read != 3 ||
		strings.Join(p.out.Incomplete, ";") != "modules: the BMC is too slow to list all 5 within 10s" {
		t.Errorf("%d are read, %v: %v", read, p.out.Incomplete, err)
	}
}
