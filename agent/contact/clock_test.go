package contact

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestHeard: the time of an answer counts as pinned over TLS with pins alone.
func TestHeard(t *testing.T) {
	date := "Mon, 23 Nov 2026 12:00:00 GMT"
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = []string{date}
		_, _ = w.Write(recorded(t, "root"))
	})
	secure, plain := httptest.NewTLSServer(handler), httptest.NewServer(handler)
	defer secure.Close()
	defer plain.Close()
	sum := sha256.Sum256(secure.Certificate().Raw)
	pins := [][]byte{sum[:]}
	for name, tc := range map[string]struct {
		o      Options
		date   string
		want   string
		pinned bool
	}{
		"pinned":          {Options{URLs: []string{secure.URL}, Pins: pins}, date, "2026-11-23T12:00:00Z", true},
		"not verified":    {Options{URLs: []string{secure.URL}, Insecure: true}, date, "2026-11-23T12:00:00Z", false},
		"pins, but plain": {Options{URLs: []string{plain.URL}, Pins: pins}, date, "2026-11-23T12:00:00Z", false},
		"no date":         {Options{URLs: []string{secure.URL}, Pins: pins}, "soon", "0001-01-01T00:00:00Z", true},
	} {
		t.Run(name, func(t *testing.T) {
			date = tc.date
			var got time.Time
			var pinned bool
			tc.o.Heard = func(at time.Time, p bool) { got, pinned = at, p }
			c := New(tc.o)
			defer c.client.CloseIdleConnections()
			if _, err := c.Version(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got.UTC().Format(time.RFC3339) != tc.want || pinned != tc.pinned {
				t.Errorf("heard %v, pinned %v", got, pinned)
			}
		})
	}
}

// TestExplain: the error of a certificate names the remedy, and for an expired one both clocks.
func TestExplain(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: end.Add(-time.Hour), NotAfter: end,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	expired := httptest.NewUnstartedServer(http.NotFoundHandler())
	expired.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}
	unknown := httptest.NewUnstartedServer(http.NotFoundHandler())
	for _, s := range []*httptest.Server{expired, unknown} {
		s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		s.StartTLS()
		defer s.Close()
	}
	clocks := func() string { return "this machine's clock says A, the conductor said B" }
	for _, pins := range [][][]byte{nil, {make([]byte, sha256.Size)}} {
		client := NewImageClient(Options{Pins: pins, Clocks: clocks}, time.Second)
		defer client.CloseIdleConnections()
		for url, want := range map[string][]string{
			expired.URL: {"has expired", end.Format(time.RFC3339), clocks()},
			unknown.URL: {"unknown authority", "ferrite ramdisk build --ca"},
		} {
			resp, err := client.Get(url)
			if err == nil {
				t.Error(resp.Body.Close(), "a bad certificate was accepted")
				continue
			}
			for _, w := range want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("no %q in %v", w, err)
				}
			}
		}
	}
}
