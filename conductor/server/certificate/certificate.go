// Package certificate is the API's own TLS certificate: read from files, read again when they change, and named by
// pins that agents trust.
//
// It makes no certificates and checks no others.
package certificate

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"log/slog"

	"github.com/ferrite-metal/ferrite/conductor/server/reload"
)

// Certificate is a certificate in files. It is safe for concurrent use.
type Certificate struct {
	files    *reload.Files[*tls.Certificate]
	restrict func(*tls.Config)
}

// Open reads a certificate (PEM, the server's first, then those that signed it)
// and its private key.
func Open(certFile, keyFile string, log *slog.Logger) (*Certificate, error) {
	files, err := reload.Open(log, parse, certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("TLS certificate and key: %w", err)
	}
	return &Certificate{files: files}, nil
}

func parse(contents [][]byte) (*tls.Certificate, error) {
	c, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return nil, err // says which of the two is wrong, and nothing of the key
	}
	return &c, nil
}

// Restrict has set change the versions and cipher suites of every configuration that TLS makes. Call it before TLS.
func (c *Certificate) Restrict(set func(*tls.Config)) { c.restrict = set }

// TLS is the configuration of a server, from TLS 1.2 on, or as Restrict says. It offers only HTTP/1.1: a client's cost
// is bounded by its connections, and HTTP/2 makes hundreds of streams out of one connection.
func (c *Certificate) TLS() *tls.Config {
	conf := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.files.Get(), nil },
	}
	if c.restrict != nil {
		c.restrict(conf)
	}
	return conf
}

// Pins are the hexadecimal SHA-256 sums, of DER, by which an agent knows this server. The first is of the server's
// certificate: by it an agent needs neither a clock nor a name. The second is of the authority that signed it, if the
// file has one. By it the agent also knows a certificate that replaces the first while the agent runs.
func (c *Certificate) Pins() []string {
	chain := c.files.Get().Certificate
	pins := []string{pin(chain[0])}
	if last := chain[len(chain)-1]; len(chain) > 1 {
		pins = append(pins, pin(last))
	}
	return pins
}

func pin(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}
