package contact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// PinError says that the server is not the conductor the kernel line named.
type PinError struct {
	Want [][]byte
	Got  []byte
}

func (e *PinError) Error() string {
	want := make([]string, len(e.Want))
	for i, pin := range e.Want {
		want[i] = hex.EncodeToString(pin)
	}
	return fmt.Sprintf("certificate has SHA-256 %x, the kernel line says %s", e.Got, strings.Join(want, " or "))
}

// conductorTLS is the TLS configuration for the conductor at host: with pins, the pins
// alone decide, else the system's roots.
func (o Options) conductorTLS(host string) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	switch {
	case len(o.Pins) > 0:
		c.InsecureSkipVerify = true // VerifyConnection does it
		c.VerifyConnection = func(s tls.ConnectionState) error { return checkPins(s.PeerCertificates, host, o.Pins) }
	case o.Insecure:
		c.InsecureSkipVerify = true
	}
	return c
}

// imageTLS is the TLS configuration for an image server. The server may be the
// conductor, known by its pins, or any host with a certificate of the system's roots.
// The checksum verifies the download besides.
func (o Options) imageTLS(host string) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	switch {
	case o.Insecure:
		c.InsecureSkipVerify = true
	case len(o.Pins) > 0:
		c.InsecureSkipVerify = true // VerifyConnection does it
		c.VerifyConnection = func(s tls.ConnectionState) error {
			if checkPins(s.PeerCertificates, host, o.Pins) == nil {
				return nil
			}
			return checkRoots(s.PeerCertificates, host, nil)
		}
	}
	return c
}

// checkPins accepts a server with a pinned certificate of its own; neither its name nor the clock matters then. It
// also accepts a certificate for this host that a pinned authority has signed: the conductor's may have been replaced
// since this machine booted.
func checkPins(chain []*x509.Certificate, host string, pins [][]byte) error {
	if len(chain) == 0 {
		return errors.New("no certificate was presented")
	}
	pinned := func(c *x509.Certificate) bool {
		sum := sha256.Sum256(c.Raw)
		return slices.ContainsFunc(pins, func(pin []byte) bool { return bytes.Equal(sum[:], pin) })
	}
	if pinned(chain[0]) {
		return nil
	}
	roots, found := x509.NewCertPool(), false
	for _, c := range chain[1:] {
		if pinned(c) {
			roots.AddCert(c)
			found = true
		}
	}
	if found {
		return checkRoots(chain, host, roots)
	}
	sum := sha256.Sum256(chain[0].Raw)
	return &PinError{Want: pins, Got: sum[:]}
}

// checkRoots checks a chain as usual; nil roots are the system's.
func checkRoots(chain []*x509.Certificate, host string, roots *x509.CertPool) error {
	if len(chain) == 0 {
		return errors.New("no certificate was presented")
	}
	opts := x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: x509.NewCertPool()}
	for _, cert := range chain[1:] {
		opts.Intermediates.AddCert(cert)
	}
	_, err := chain[0].Verify(opts)
	return err
}

// explain adds the remedy to an error of a certificate.
func (o Options) explain(err error) error {
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("%w; if the authority is your own, build the ramdisk with it: ferrite ramdisk build --ca FILE", err)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		clocks := ""
		if o.Clocks != nil && o.Clocks() != "" {
			clocks = "; " + o.Clocks()
		}
		return fmt.Errorf("%w (the certificate is valid from %s to %s)%s", err,
			invalid.Cert.NotBefore.UTC().Format(time.RFC3339), invalid.Cert.NotAfter.UTC().Format(time.RFC3339), clocks)
	}
	return err
}

// dialTimeout bounds how long a connection may take to come about.
const dialTimeout = 10 * time.Second

// newHTTPClient makes the client for requests to the conductor.
func newHTTPClient(o Options) *http.Client {
	return &http.Client{Transport: transport(o.conductorTLS, dialTimeout, o.explain)}
}

// NewImageClient makes the client for images: the transfer as a whole has no
// deadline, connecting and the first byte have.
func NewImageClient(o Options, connectTimeout time.Duration) *http.Client {
	t := transport(o.imageTLS, connectTimeout, o.explain)
	t.Proxy, t.TLSClientConfig = o.proxy, throughProxy(o.imageTLS)
	return &http.Client{Transport: t}
}

// transport makes connections with the TLS configuration for each host. A TLS
// connection does not know the IP address that was dialled, and the conductor's
// certificate is mostly for an IP address.
func transport(
	conf func(host string) *tls.Config, connectTimeout time.Duration, explain func(error) error,
) *http.Transport {
	plain := &net.Dialer{Timeout: connectTimeout, KeepAlive: 15 * time.Second}
	return &http.Transport{
		DialContext: plain.DialContext,
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			ctx, cancel := context.WithTimeout(ctx, 2*connectTimeout) // connection and handshake
			defer cancel()
			conn, err := (&tls.Dialer{NetDialer: plain, Config: conf(host)}).DialContext(ctx, network, address)
			return conn, explain(err)
		},
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
