package agent

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// commandServer serves the command API to the conductor.
type commandServer struct {
	callback string // URL
	pem      string // the certificate; empty for plain HTTP
	server   *http.Server
	ended    chan struct{}
}

// takesCertificates is the microversion 1.N since which a conductor accepts our
// certificate in a heartbeat.
const takesCertificates = 68

// Limits of connections. The conductor needs one or two, from one or two addresses,
// and a ramdisk has little memory for the connections of others.
const (
	maxConnections = 64
	maxEach        = 8
)

// openCommandServer serves the command API on l. It uses TLS if the conductor's
// microversion is at least takesCertificates.
func openCommandServer(
	l net.Listener, ip netip.Addr, minor int, api http.Handler, log *slog.Logger,
) (*commandServer, error) {
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, fmt.Errorf("command API: %w", err)
	}
	d := &commandServer{callback: "http://" + net.JoinHostPort(ip.String(), port), ended: make(chan struct{})}
	d.server = connlimit.NewServer(api, log)
	if minor >= takesCertificates {
		cert, text, err := selfSigned(ip, time.Now())
		if err != nil {
			return nil, fmt.Errorf("command API: certificate: %w", err)
		}
		d.callback, d.pem = "https"+d.callback[len("http"):], text
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12})
	}
	go func() { // ends with close
		defer close(d.ended)
		if err := d.server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			log.Error("command API ended", "err", err)
		}
	}()
	return d, nil
}

// closeTimeout limits how long close waits for answers under way.
const closeTimeout = 2 * time.Second

// close stops serving.
func (d *commandServer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if d.server.Shutdown(ctx) != nil {
		_ = d.server.Close() // connections that are still open have had their time
	}
	<-d.ended
}

// The certificate is valid from an hour ago, since this machine's clock may be
// ahead of the conductor's, until long after any deploy.
const (
	clockSkew    = time.Hour
	certLifetime = 30 * 24 * time.Hour
)

// selfSigned makes a certificate for one address, and its PEM.
func selfSigned(ip netip.Addr, now time.Time) (tls.Certificate, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return tls.Certificate{}, "", err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "ferrite-agent"},
		IPAddresses:  []net.IP{ip.AsSlice()},
		NotBefore:    now.Add(-clockSkew),
		NotAfter:     now.Add(certLifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, string(text), nil
}
