//go:debug x509negativeserial=1

package redfish_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/outbound/tlspolicy"
)

// neverConnects is a dialer with connections that never complete; they end only by their context.
func neverConnects() *net.Dialer {
	return &net.Dialer{ControlContext: func(ctx context.Context, _, _ string, _ syscall.RawConn) error {
		<-ctx.Done()
		return ctx.Err()
	}}
}

// bmcKey is one for all: to make one takes long under the race detector.
var bmcKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// secured serves the board by TLS with the settings, and a certificate edit has changed.
func secured(t *testing.T, conf *tls.Config, edit func(c *x509.Certificate)) (b *board, authority string) {
	b = newBoard(t)
	key := bmcKey()
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bmc"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment}
	if edit != nil {
		edit(c)
	}
	der, err := certificate(c, key)
	if err != nil {
		t.Fatal(err)
	}
	conf.Certificates = []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}
	s := httptest.NewUnstartedServer(b)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = conf
	s.StartTLS()
	t.Cleanup(s.Close)
	b.url = s.URL
	return b, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// A BMC of old firmware is reached with redfish_tls: legacy alone, and the error without it
// says so.
func TestLegacyTLS(t *testing.T) {
	rsaOnly := []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_256_GCM_SHA384}
	for _, c := range []struct {
		name string
		conf *tls.Config
		edit func(c *x509.Certificate)
	}{
		{"RSA key exchange", &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: rsaOnly}, nil},
		{"TLS 1.0", &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10}, nil},
		{"TLS 1.1", &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11, CipherSuites: rsaOnly}, nil},
		{"a negative serial number", &tls.Config{}, func(c *x509.Certificate) { c.SerialNumber = big.NewInt(-5) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, authority := secured(t, c.conf, c.edit)
			for _, verify := range []string{"false", authority} {
				d := newDriver(t, redfish.Options{BackOff: time.Nanosecond, MaxBackOff: time.Nanosecond})
				_, err := d.PowerState(t.Context(), b.node("redfish_verify_ca", verify))
				if err == nil || !strings.Contains(err.Error(), "redfish_tls to legacy") {
					t.Errorf("without: got %v", err)
				}
				if _, err := d.PowerState(t.Context(), b.node("redfish_verify_ca", verify, "redfish_tls", "legacy")); err != nil {
					t.Errorf("with: %v", err)
				}
			}
		})
	}
}

// A node, or else the driver, decides on the versions and cipher suites of its connections.
func TestTLSPolicy(t *testing.T) {
	const chosen = "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256"
	old, authority := secured(t, &tls.Config{MaxVersion: tls.VersionTLS12}, nil)
	strict := tlspolicy.Policy{Minimum: tls.VersionTLS13}
	for _, c := range []struct {
		name     string
		driver   tlspolicy.Policy
		settings []any
		want     string
	}{
		{"as it comes", tlspolicy.Policy{}, nil, ""},
		{"the node wants 1.3", tlspolicy.Policy{}, []any{"redfish_tls_minimum_version", "1.3"}, "protocol version"},
		{"the driver wants 1.3", strict, nil, "protocol version"},
		{"the node takes 1.2", strict, []any{"redfish_tls_minimum_version", "1.2"}, ""},
		{"suites it has", tlspolicy.Policy{}, []any{"redfish_tls_ciphers", chosen}, ""},
		{"suites it lacks", tlspolicy.Policy{}, []any{"redfish_tls_ciphers", "AES128-SHA"}, "handshake failure"},
		{"a word that is none", tlspolicy.Policy{}, []any{"redfish_tls_ciphers", "HIGH"}, "which is not known: choose from"},
		{"against legacy", tlspolicy.Policy{}, []any{"redfish_tls", "legacy", "redfish_tls_minimum_version", "1.2"},
			"redfish_tls is legacy, which takes every version"},
	} {
		d := newDriver(t, redfish.Options{BackOff: time.Nanosecond, MaxBackOff: time.Nanosecond, TLS: c.driver})
		_, err := d.PowerState(t.Context(), old.node(append([]any{"redfish_verify_ca", authority}, c.settings...)...))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Legacy TLS still checks the certificate.
func TestLegacyTLSVerifies(t *testing.T) {
	b, _ := secured(t, &tls.Config{}, nil)
	_, err := newDriver(t, redfish.Options{}).PowerState(t.Context(), b.node("redfish_tls", "legacy"))
	if err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("got %v", err)
	}
}

// A connection that cannot work is an error that names the setting to change.
func TestConnectionAdvice(t *testing.T) {
	plain := newBoard(t)
	ssh, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ssh.Close() })
	go func() {
		for {
			c, err := ssh.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("SSH-2.0-dropbear_2022.83\r\n"))
			_ = c.(*net.TCPConn).CloseWrite()
		}
	}()
	elsewhere, theirs := secured(t, &tls.Config{}, func(c *x509.Certificate) {
		c.IPAddresses, c.DNSNames = nil, []string{"bmc7.example.org"}
	})
	old, ofOld := secured(t, &tls.Config{}, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	unknown, _ := secured(t, &tls.Config{}, nil)
	for _, c := range []struct {
		name, address, verify string
		want                  []string
	}{
		{"http behind https", "https" + strings.TrimPrefix(plain.url, "http"), "true",
			[]string{"does not speak TLS", "http://"}},
		{"ssh behind https", "https://" + ssh.Addr().String(), "true", []string{"does not speak TLS", "redfish_address"}},
		{"ssh behind http", "http://" + ssh.Addr().String(), "true", []string{"the answer is not HTTP"}},
		{"https behind http", "http" + strings.TrimPrefix(unknown.url, "https"), "true",
			[]string{"speaks TLS", "https://"}},
		{"a certificate of another host", elsewhere.url, theirs,
			[]string{"of another host (bmc7.example.org)", "redfish_address"}},
		{"an expired certificate", old.url, ofOld, []string{"expired", "renew"}},
		{"an unknown authority", unknown.url, "true", []string{"signed by unknown authority", "redfish_verify_ca"}},
		{"nobody there", "http://127.0.0.1:1", "true", []string{"connection refused", "redfish_address"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := plain.node("redfish_address", c.address, "redfish_verify_ca", c.verify)
			_, err := newDriver(t, redfish.Options{}).PowerState(t.Context(), n)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got  %v\nwant %s", err, want)
				}
			}
		})
	}
}

// Addresses of IPv6 with a zone are taken as people write them, and as URLs do.
func TestZone(t *testing.T) {
	for _, address := range []string{"https://[fe80::1%eth0]", "https://[fe80::1%25eth0]:8443/redfish/v1",
		"[fe80::1%eth0]"} {
		n := newBoard(t).node("redfish_address", address)
		d := newDriver(t, redfish.Options{ConnectTimeout: time.Millisecond, Dialer: neverConnects()})
		if err := d.Validate(n); err != nil {
			t.Errorf("%s: %v", address, err)
		}
		if _, err := d.PowerState(t.Context(), n); err == nil || strings.Contains(err.Error(), "escape") ||
			strings.Contains(err.Error(), "another host") {
			t.Errorf("%s: got %v", address, err)
		}
	}
}

// certificate is self-signed. x509 makes none with a negative serial number: it is put in
// afterwards, and the certificate signed anew.
func certificate(c *x509.Certificate, key *rsa.PrivateKey) ([]byte, error) {
	serial := c.SerialNumber
	c.SerialNumber = new(big.Int).Abs(serial)
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil || serial.Sign() > 0 {
		return der, err
	}
	var parts struct {
		TBS       asn1.RawValue
		Algorithm asn1.RawValue
		Signature asn1.BitString
	}
	if _, err := asn1.Unmarshal(der, &parts); err != nil {
		return nil, err
	}
	is, be := []byte{2, 1, byte(-serial.Int64())}, []byte{2, 1, byte(serial.Int64())}
	parts.TBS.FullBytes = bytes.Replace(parts.TBS.FullBytes, is, be, 1)
	sum := sha256.Sum256(parts.TBS.FullBytes)
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return nil, err
	}
	parts.Signature = asn1.BitString{Bytes: signature, BitLength: 8 * len(signature)}
	return asn1.Marshal(parts)
}

// A server that speaks first, as SSH does, may be faster than our question. The error says so then too.
func TestSpeaksFirst(t *testing.T) {
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { first.Close() })
	go func() {
		for {
			c, err := first.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("SSH-2.0-dropbear_2022.83\r\n"))
		}
	}()
	n := newBoard(t).node("redfish_address", "http://"+first.Addr().String())
	for range 50 {
		_, err := newDriver(t, redfish.Options{BackOff: time.Microsecond, MaxBackOff: time.Microsecond}).PowerState(
			t.Context(), n)
		if err == nil || !strings.Contains(err.Error(), "the answer is not HTTP") {
			t.Fatalf("got %v", err)
		}
	}
}

// TestNoServiceRoot: a web server without a BMC, or a BMC's other port, is recognized by the lack of a service root.
func TestNoServiceRoot(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	for _, auth := range []string{"auto", "session", "basic"} {
		b := newBoard(t)
		_, err := newDriver(t, redfish.Options{BackOff: time.Millisecond}).PowerState(t.Context(),
			b.node("redfish_address", other.URL, "redfish_auth_type", auth))
		if err == nil || !strings.Contains(err.Error(), "the BMC answered 404 Not Found") ||
			!strings.Contains(err.Error(), "is it a Redfish BMC, and the right port? check redfish_address") {
			t.Errorf("%s: %v", auth, err)
		}
	}
}
