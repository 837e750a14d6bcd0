package netcheck

import (
	"context"
	"crypto/sha256"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/ferrite-metal/ferrite/agent/contact"
)

// TestQuery asks a name server that refuses, another that talks nonsense, and none.
func TestQuery(t *testing.T) {
	server := func(reply func([]byte) []byte) netip.AddrPort {
		conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			b := make([]byte, 512)
			for {
				n, from, err := conn.ReadFrom(b)
				if err != nil {
					return
				}
				_, _ = conn.WriteTo(reply(b[:n]), from)
			}
		}()
		t.Cleanup(func() { conn.Close(); <-ended })
		return netip.MustParseAddrPort(conn.LocalAddr().String())
	}
	refuses := server(func(q []byte) []byte {
		var m dnsmessage.Message
		if err := m.Unpack(q); err != nil {
			return nil
		}
		m.Response, m.RCode = true, dnsmessage.RCodeRefused
		b, _ := m.Pack()
		return b
	})
	if err := Query(t.Context(), refuses); err != nil {
		t.Errorf("a refusal is an answer: %v", err)
	}
	if err := Query(t.Context(), server(func(q []byte) []byte { return q })); err == nil ||
		!strings.Contains(err.Error(), "not as a name server") {
		t.Errorf("an echo was taken for a name server: %v", err)
	}
	if err := Query(t.Context(), netip.MustParseAddrPort("127.0.0.1:1")); err == nil {
		t.Error("a closed port answered")
	}
}

// TestReach: each stage on the way to a conductor that does not work is named.
func TestReach(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/ok") {
			_, _ = w.Write([]byte(`{"default_version": {"id": "v1", "version": "1.109"}}`))
			return
		}
		http.NotFound(w, r)
	}
	plain, secure := httptest.NewServer(http.HandlerFunc(answer)), httptest.NewTLSServer(http.HandlerFunc(answer))
	defer plain.Close()
	defer secure.Close()
	pin := sha256.Sum256(secure.Certificate().Raw)
	for name, tc := range map[string]struct {
		url, stage string
		pins       [][]byte
		ok         bool
	}{
		"works":      {plain.URL + "/ok", "HTTP", nil, true},
		"pinned":     {secure.URL + "/ok", "HTTP", [][]byte{pin[:]}, true},
		"not found":  {plain.URL, "HTTP", nil, false},
		"wrong pin":  {secure.URL + "/ok", "TLS", [][]byte{make([]byte, 32)}, false},
		"unknown CA": {secure.URL + "/ok", "TLS", nil, false},
		"not TLS":    {strings.Replace(plain.URL, "http", "https", 1), "HTTP", nil, false},
		"closed":     {"http://127.0.0.1:1", "TCP", nil, false},
		"no name":    {"http://conductor.invalid:6385", "name", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := contact.New(contact.Options{URLs: []string{tc.url}, Pins: tc.pins})
			a := Reach(t.Context(), tc.url, func(ctx context.Context) error {
				_, err := c.Version(ctx)
				return err
			})
			if a.Stage != tc.stage || (a.Err == nil) != tc.ok {
				t.Errorf("stage %s, %v; want %s", a.Stage, a.Err, tc.stage)
			}
		})
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}
