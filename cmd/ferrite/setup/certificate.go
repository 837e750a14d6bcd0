package setup

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"os"
	"time"
)

// How long an authority and a certificate are valid. Browsers and kubectl take no server's for longer than 825 days.
const (
	authorityDays   = 3650
	certificateDays = 825
)

// pems is an authority and the certificate that it has signed, all PEM. cert has the server's first, then the
// authority's, so that agents know the next one, too (docs/operate/tls.md).
type pems struct{ authority, authorityKey, cert, key []byte }

// makeCertificates makes an authority for Ferrite alone, and a certificate for hosts: names or addresses.
func makeCertificates(hosts []string, now time.Time) (p pems, err error) {
	ca := &x509.Certificate{Subject: pkix.Name{CommonName: "Ferrite CA"}, NotBefore: now.Add(-time.Hour),
		NotAfter: now.AddDate(0, 0, authorityDays), IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign}
	caKey, caDER, err := signed(ca, ca, nil)
	if err != nil {
		return p, err
	}
	server := &x509.Certificate{Subject: pkix.Name{CommonName: hosts[0]}, NotBefore: now.Add(-time.Hour),
		NotAfter: now.AddDate(0, 0, certificateDays), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			server.IPAddresses = append(server.IPAddresses, ip)
		} else {
			server.DNSNames = append(server.DNSNames, h)
		}
	}
	key, der, err := signed(server, ca, caKey)
	if err != nil {
		return p, err
	}
	if p.authorityKey, err = keyPEM(caKey); err != nil {
		return p, err
	}
	if p.key, err = keyPEM(key); err != nil {
		return p, err
	}
	p.authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})
	p.cert = append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), p.authority...)
	return p, nil
}

// signed makes a key and its certificate; without a signer it signs itself.
func signed(c, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	if signer == nil {
		signer = key
	}
	if c.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), signer)
	if err != nil {
		return nil, nil, fmt.Errorf("make a certificate: %w", err)
	}
	return key, der, nil
}

func keyPEM(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// hosts are the names by which clients reach the API: its address, this host's name, and those that were asked for.
func (a *answers) hosts() ([]string, error) {
	host, _, err := net.SplitHostPort(a.APIAddress)
	if err != nil {
		return nil, fmt.Errorf("--api-address %q is not host:port: %w", a.APIAddress, err)
	}
	var all []string
	if at, err := netip.ParseAddr(host); host != "" && (err != nil || !at.IsUnspecified()) {
		all = append(all, host)
	}
	all = append(all, a.Names...)
	if name, err := os.Hostname(); err == nil && name != "" {
		all = append(all, name)
	}
	return append(all, "localhost", "127.0.0.1"), nil
}
