package certificate_test

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/server/certificate"
	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
)

// handshake is one with the server of c; it returns the certificates shown.
func handshake(t *testing.T, c *certificate.Certificate, client *tls.Config) (shown []string, err error) {
	t.Helper()
	here, there := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer there.Close()
		_ = tls.Server(there, c.TLS()).Handshake() // the client reports the error
	}()
	defer func() { here.Close(); <-done }()
	client.InsecureSkipVerify = true
	conn := tls.Client(here, client)
	err = conn.Handshake()
	for _, cert := range conn.ConnectionState().PeerCertificates {
		sum := sha256.Sum256(cert.Raw)
		shown = append(shown, hex.EncodeToString(sum[:]))
	}
	return shown, err
}

// TestRestrict: older versions than the least are refused.
func TestRestrict(t *testing.T) {
	chain, key := certtest.New(t).Server("127.0.0.1")
	certFile, keyFile := certtest.Write(t, t.TempDir(), chain, key)
	c, err := certificate.Open(certFile, keyFile, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	old := &tls.Config{MaxVersion: tls.VersionTLS12}
	if _, err := handshake(t, c, old.Clone()); err != nil {
		t.Errorf("without: %v", err)
	}
	c.Restrict(func(conf *tls.Config) { conf.MinVersion = tls.VersionTLS13 })
	if _, err := handshake(t, c, old.Clone()); err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Errorf("with: %v", err)
	}
}

// TestRotation: a new pair of files is served to the next connection; half of one
// is not, and neither is nonsense.
func TestRotation(t *testing.T) {
	dir, authority := t.TempDir(), certtest.New(t)
	chain, key := authority.Server("127.0.0.1")
	certFile, keyFile := certtest.Write(t, dir, chain, key)
	c, err := certificate.Open(certFile, keyFile, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	first, err := handshake(t, c, &tls.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, c.Pins()); diff != "" || len(first) != 2 {
		t.Errorf("pins (-shown +pins):\n%s", diff)
	}
	next, nextKey := authority.Server("127.0.0.1")
	for name, files := range map[string][2][]byte{"a key that is not its own": {next, key},
		"nonsense": {[]byte("x"), nextKey}} {
		certtest.Write(t, dir, files[0], files[1])
		if shown, err := handshake(t, c, &tls.Config{}); err != nil || !slices.Equal(shown, first) {
			t.Errorf("%s: shown %v (%v), want what was before", name, shown, err)
		}
	}
	certtest.Write(t, dir, next, nextKey)
	second, err := handshake(t, c, &tls.Config{})
	if err != nil || second[0] == first[0] {
		t.Errorf("a new certificate is not shown: %v", err)
	}
	if pins := c.Pins(); pins[0] != second[0] || pins[1] != first[1] {
		t.Errorf("pins %v", pins)
	}
}

func TestLimits(t *testing.T) {
	chain, key := certtest.New(t).Server("127.0.0.1")
	certFile, keyFile := certtest.Write(t, t.TempDir(), chain, key)
	log := slog.New(slog.DiscardHandler)
	c, err := certificate.Open(certFile, keyFile, log)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := handshake(t, c, &tls.Config{MaxVersion: tls.VersionTLS11}); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	if _, err := certificate.Open(keyFile, certFile, log); err == nil || !strings.Contains(err.Error(), keyFile) ||
		strings.Contains(err.Error(), "PRIVATE") && strings.Contains(err.Error(), string(key[40:80])) {
		t.Errorf("exchanged files: %v", err)
	}
}
