package contact

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
)

// TestRotatedCertificate: an agent that has the pins of the conductor it booted
// from goes on when that has another certificate of the same authority, for the
// same host; and not with anything else.
func TestRotatedCertificate(t *testing.T) {
	ours, stranger := certtest.New(t), certtest.New(t)
	authority, former := sha256.Sum256(ours.Raw()), sha256.Sum256([]byte("the certificate it booted with"))
	pins := [][]byte{former[:], authority[:]}
	forged, forgedKey := stranger.Server("127.0.0.1")
	forged = append(forged[:len(forged)-len(stranger.PEM())], ours.PEM()...)
	for name, tc := range map[string]struct {
		made func() (chain, key []byte)
		ok   bool
	}{
		"another of the authority": {func() ([]byte, []byte) { return ours.Server("127.0.0.1") }, true},
		"the authority's, of another host": {func() ([]byte, []byte) { return ours.Server("10.9.9.9", "elsewhere") },
			false},
		"another authority's":                  {func() ([]byte, []byte) { return stranger.Server("127.0.0.1") }, false},
		"shown with an authority that did not": {func() ([]byte, []byte) { return forged, forgedKey }, false},
	} {
		t.Run(name, func(t *testing.T) {
			pair, err := tls.X509KeyPair(tc.made())
			if err != nil {
				t.Fatal(err)
			}
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
			srv.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
			srv.StartTLS()
			defer srv.Close()
			for kind, client := range map[string]*http.Client{"conductor": newHTTPClient(Options{Pins: pins}),
				"image": imageClient(Options{Pins: pins})} {
				defer client.CloseIdleConnections()
				resp, err := client.Get(srv.URL)
				if err == nil {
					err = errors.Join(err, resp.Body.Close())
				}
				if (err == nil) != tc.ok {
					t.Errorf("%s: error %v", kind, err)
				}
			}
		})
	}
}
