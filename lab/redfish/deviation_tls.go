package redfish

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"
)

// TLSConfig is how a controller of this personality speaks TLS; nil for as a modern one does.
func (p Personality) TLSConfig() (*tls.Config, error) {
	if !p.has(LegacyTLS) {
		return nil, nil
	}
	certificate, err := legacyCertificate()
	if err != nil {
		return nil, fmt.Errorf("make a certificate of an old controller: %w", err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS12,
		CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_256_CBC_SHA},
	}, nil
}

// legacyCertificate is a certificate with a negative serial number, which crypto/x509 neither makes nor reads. It is
// made once: keys take a while.
var legacyCertificate = sync.OnceValues(makeLegacyCertificate)

func makeLegacyCertificate() (c tls.Certificate, err error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return c, err
	}
	serial := []byte{0x4f, 0xfe, 0x15, 0x2a, 0x6b, 0x01, 0x33, 0x4d}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial), Subject: pkix.Name{CommonName: "BMC"}, DNSNames: []string{"bmc"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0), SignatureAlgorithm: x509.SHA256WithRSA,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return c, err
	}
	if der, err = negate(der, serial, key); err != nil {
		return c, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// signed is a certificate as ASN.1 (RFC 5280, 4.1).
type signed struct {
	Body      asn1.RawValue
	Algorithm pkix.AlgorithmIdentifier
	Signature asn1.BitString
}

// negate makes the serial number of a certificate negative, and signs it again.
func negate(der, serial []byte, key *rsa.PrivateKey) ([]byte, error) {
	var s signed
	if _, err := asn1.Unmarshal(der, &s); err != nil {
		return nil, err
	}
	at := bytes.Index(s.Body.FullBytes, serial)
	if at < 0 {
		return nil, errors.New("the serial number is not in the certificate")
	}
	s.Body.FullBytes[at] |= 0x80
	sum := sha256.Sum256(s.Body.FullBytes)
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return nil, err
	}
	s.Signature = asn1.BitString{Bytes: signature, BitLength: 8 * len(signature)}
	return asn1.Marshal(s)
}
