package contact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// PinError says that who answered is not the conductor the kernel line named.
type PinError struct{ Want, Got []byte }

func (e *PinError) Error() string {
	return fmt.Sprintf("certificate has SHA-256 %x, the kernel line says %x", e.Got, e.Want)
}

// tlsConfig is how the conductor's certificate is judged: by its pin alone when
// there is one, since then neither names nor the clock matter, else as usual.
func tlsConfig(o Options) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	switch {
	case len(o.Pin) > 0:
		c.InsecureSkipVerify = true // VerifyConnection does it
		c.VerifyConnection = func(s tls.ConnectionState) error { return checkPin(s, o.Pin) }
	case o.Insecure:
		c.InsecureSkipVerify = true
	}
	return c
}

func checkPin(s tls.ConnectionState, pin []byte) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("no certificate was presented")
	}
	got := sha256.Sum256(s.PeerCertificates[0].Raw)
	if !bytes.Equal(got[:], pin) {
		return &PinError{Want: pin, Got: got[:]}
	}
	return nil
}

// imageTLS is how an image server's certificate is judged: it may be the
// conductor, known by its pin, or anyone the system's roots vouch for. What
// is downloaded is verified by its checksum besides.
func imageTLS(o Options) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.Insecure {
		c.InsecureSkipVerify = true
		return c
	}
	if len(o.Pin) == 0 {
		return c
	}
	c.InsecureSkipVerify = true // VerifyConnection does it
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if checkPin(s, o.Pin) == nil {
			return nil
		}
		return checkRoots(s)
	}
	return c
}

func checkRoots(s tls.ConnectionState) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("no certificate was presented")
	}
	opts := x509.VerifyOptions{DNSName: s.ServerName, Intermediates: x509.NewCertPool()}
	for _, cert := range s.PeerCertificates[1:] {
		opts.Intermediates.AddCert(cert)
	}
	_, err := s.PeerCertificates[0].Verify(opts)
	return err
}

// dialTimeout bounds how long a connection may take to come about.
const dialTimeout = 10 * time.Second

// newHTTPClient makes the client for requests to the conductor.
func newHTTPClient(o Options) *http.Client {
	return &http.Client{Transport: transport(tlsConfig(o), dialTimeout)}
}

// NewImageClient makes the client for images: the transfer as a whole has no
// deadline, connecting and the first byte have.
func NewImageClient(o Options, connectTimeout time.Duration) *http.Client {
	return &http.Client{Transport: transport(imageTLS(o), connectTimeout)}
}

func transport(t *tls.Config, connectTimeout time.Duration) *http.Transport {
	return &http.Transport{
		DialContext:           (&net.Dialer{Timeout: connectTimeout, KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig:       t,
		TLSHandshakeTimeout:   connectTimeout,
		ResponseHeaderTimeout: max(connectTimeout, requestTimeout),
		MaxIdleConnsPerHost:   2,
		IdleConnTimeout:       90 * time.Second,
		DisableCompression:    true, // an image served with Content-Encoding would not match its checksum
	}
}

// LocalAddress is the address this machine has towards a URL: the one its
// host can call back. Nothing is sent.
func LocalAddress(ctx context.Context, target string) (netip.Addr, error) {
	u, err := url.Parse(target)
	if err != nil {
		return netip.Addr{}, err
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "udp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return netip.Addr{}, fmt.Errorf("address towards %s: %w", u.Host, err)
	}
	defer conn.Close() // nothing was sent
	local, ok := conn.LocalAddr().(*net.UDPAddr)
	if !ok {
		return netip.Addr{}, fmt.Errorf("address towards %s: found %s", u.Host, conn.LocalAddr())
	}
	addr := local.AddrPort().Addr().Unmap()
	if addr.IsLinkLocalUnicast() || addr.IsUnspecified() {
		return netip.Addr{}, fmt.Errorf("address towards %s: %s cannot be called back", u.Host, addr)
	}
	return addr, nil
}
