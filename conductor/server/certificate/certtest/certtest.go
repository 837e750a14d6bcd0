// Package certtest makes certificates and their keys for tests, so that none are
// kept among the sources.
//
// It is for tests alone; nothing that ships imports it.
package certtest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates.
type Authority struct {
	t    testing.TB // nil when it was made without one
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// New makes an authority. Its failures end the test.
func New(t testing.TB) *Authority {
	t.Helper()
	a, err := Make()
	if err != nil {
		t.Fatal(err)
	}
	a.t = t
	return a
}

// Make makes an authority for a program that tests, and is none of go test.
func Make() (*Authority, error) {
	template, key, err := draft("an authority")
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	cert, err := sign(template, template, key, key)
	return &Authority{cert: cert, key: key}, err
}

// Server makes a certificate for hosts, names or addresses, followed by its authority's certificate, and its private
// key: both PEM.
func (a *Authority) Server(hosts ...string) (chain, key []byte) {
	a.t.Helper()
	chain, key, err := a.Issue(hosts...)
	if err != nil {
		a.t.Fatal(err)
	}
	return chain, key
}

// Issue is Server with an error.
func (a *Authority) Issue(hosts ...string) (chain, key []byte, err error) {
	return a.IssueFor(time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour), hosts...)
}

// IssueFor is Issue for a time.
func (a *Authority) IssueFor(from, until time.Time, hosts ...string) (chain, key []byte, err error) {
	template, private, err := draft("a server")
	if err != nil {
		return nil, nil, err
	}
	template.NotBefore, template.NotAfter = from, until
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	cert, err := sign(template, a.cert, private, a.key)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(private)
	return append(encode("CERTIFICATE", cert.Raw), a.PEM()...), encode("EC PRIVATE KEY", der), err
}

// PEM is the authority's own certificate.
func (a *Authority) PEM() []byte { return encode("CERTIFICATE", a.cert.Raw) }

// Raw is the same as DER.
func (a *Authority) Raw() []byte { return bytes.Clone(a.cert.Raw) }

// Write writes cert.pem and key.pem into a folder and returns their paths.
func Write(t testing.TB, dir string, chain, key []byte) (certFile, keyFile string) {
	t.Helper()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, content := range map[string][]byte{certFile: chain, keyFile: key} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// draft makes a template with the common fields of a certificate, and a new key.
func draft(name string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}, key, err
}

func sign(template, parent *x509.Certificate, of, by *ecdsa.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &of.PublicKey, by)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
