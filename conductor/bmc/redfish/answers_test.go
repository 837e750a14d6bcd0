package redfish

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   bool
	}{
		"Redfish": {func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" || r.URL.Path != "/redfish/v1/" {
				t.Errorf("asked %s as %q", r.URL, r.Header.Get("Authorization"))
			}
			_, _ = w.Write([]byte(`{"@odata.type":"#ServiceRoot.v1_9_0.ServiceRoot","RedfishVersion":"1.9.0"}`))
		}, true},
		"an old one": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"RedfishVersion":"1.0.0"}`)) }, true},
		"a web page": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`<html>`)) }, false},
		"other JSON": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"RedfishVersion":7}`)) }, false},
		"a list":     {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`[]`)) }, false},
		"no Redfish": {http.NotFound, false},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://127.0.0.1:1/", http.StatusFound)
		}, false},
	} {
		s := httptest.NewTLSServer(tc.answer)
		at := s.Listener.Addr().(*net.TCPAddr).AddrPort()
		if got := answersAt(t.Context(), &net.Dialer{}, at); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
		s.Close()
		if answersAt(t.Context(), &net.Dialer{}, at) {
			t.Errorf("%s: it answers when nobody listens", name)
		}
	}
	if Answers(t.Context(), &net.Dialer{}, netip.MustParseAddr("127.0.0.254")) {
		t.Error("there is Redfish on port 443 of loopback")
	}
}

func FuzzIsServiceRoot(f *testing.F) {
	f.Add([]byte(`{"@odata.type":"#ServiceRoot.v1_9_0.ServiceRoot"}`))
	f.Add([]byte(`{"RedfishVersion":"1.9.0"}`))
	f.Add([]byte(`[1]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if isServiceRoot(raw) && raw[len(raw)-1] == ']' {
			t.Errorf("a list is a service root: %q", raw)
		}
	})
}
