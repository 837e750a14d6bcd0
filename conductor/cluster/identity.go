package cluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// serverName is the name in every member's certificate. Members are distinguished by their addresses.
const serverName = "conductor.ferrite.internal"

// Certificates have no end, so that members with wrong clocks reach each other: RFC 5280, 4.1.2.5, has a date for it.
var (
	begin   = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	forever = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// Identity is how a member shows that it has the cluster key, and has others show it.
type Identity struct{ server, client *tls.Config }

// NewIdentity makes the certificate of a member. Its authority is the same for all members: it comes from the key.
func NewIdentity(k Key, name string) (Identity, error) {
	authorityKey := ed25519.NewKeyFromSeed(k.derive("authority"))
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Ferrite cluster"}, NotBefore: begin, NotAfter: forever,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return Identity{}, fmt.Errorf("make the authority of the cluster: %w", err)
	}
	if authority, err = x509.ParseCertificate(der); err != nil {
		return Identity{}, fmt.Errorf("make the authority of the cluster: %w", err)
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Identity{}, fmt.Errorf("make a member's key: %w", err)
	}
	der, err = x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: begin,
		NotAfter: forever, DNSNames: []string{serverName}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, authority, own.Public(), authorityKey)
	if err != nil {
		return Identity{}, fmt.Errorf("make a member's certificate: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(authority)
	certificates := []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: own}}
	return Identity{
		server: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: certificates, ClientCAs: pool,
			ClientAuth: tls.RequireAndVerifyClientCert, NextProtos: []string{"http/1.1"}},
		client: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: certificates, RootCAs: pool, ServerName: serverName},
	}, nil
}

// Listener is a listener to which members alone can talk.
func (id Identity) Listener(l net.Listener) net.Listener { return tls.NewListener(l, id.server) }

// Server serves members. Their connections are the last to be closed in favour of strangers.
func (Identity) Server(ctx context.Context, h http.Handler, log *slog.Logger) *http.Server {
	srv := connlimit.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connlimit.Known(r)
		h.ServeHTTP(w, r)
	}), log)
	srv.MaxHeaderBytes = 128 << 10 // for a client's headers and those that the front adds
	srv.BaseContext = func(net.Listener) context.Context { return ctx }
	return srv
}
