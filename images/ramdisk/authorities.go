package ramdisk

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
	"time"
)

// SystemAuthorities stands for the authorities that this machine trusts.
const SystemAuthorities = "system"

// authoritiesFile is the first place where programs in Go look for authorities.
const authoritiesFile = "etc/ssl/certs/ca-certificates.crt"

// readAuthorities joins certificates of authorities to one PEM file, each once. A file without any, or with an
// expired one, is refused. Of the system's, those that have expired are left out.
func readAuthorities(files []string, now time.Time) (string, error) {
	var bundle strings.Builder
	seen := map[string]bool{}
	for _, file := range files {
		name := file
		if file == SystemAuthorities {
			name = "/" + authoritiesFile
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("certificates of authorities: %w", err)
		}
		certificates, err := parseAuthorities(text)
		if err != nil {
			return "", fmt.Errorf("certificates of authorities: %s: %w", name, err)
		}
		for _, c := range certificates {
			expired := now.After(c.NotAfter)
			if expired && file != SystemAuthorities {
				return "", fmt.Errorf("certificates of authorities: %s: %s has expired on %s: give the new one", name, c.Subject,
					c.NotAfter.UTC().Format(time.DateOnly))
			}
			if expired || seen[string(c.Raw)] {
				continue
			}
			seen[string(c.Raw)] = true
			if err := pem.Encode(&bundle, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}); err != nil {
				return "", fmt.Errorf("certificates of authorities: %w", err)
			}
		}
	}
	return bundle.String(), nil
}

// parseAuthorities reads the certificates of a PEM file. Private keys do not belong into a ramdisk: anybody on the
// network can fetch it.
func parseAuthorities(text []byte) (all []*x509.Certificate, err error) {
	for {
		var b *pem.Block
		b, text = pem.Decode(text)
		switch {
		case b == nil && len(all) == 0:
			return nil, fmt.Errorf("expected certificates in PEM, found none")
		case b == nil && len(bytes.TrimSpace(text)) > 0:
			return nil, fmt.Errorf("expected certificates in PEM, found %d more bytes that are none", len(text))
		case b == nil:
			return all, nil
		case b.Type != "CERTIFICATE":
			return nil, fmt.Errorf("expected certificates alone, found a %s", b.Type)
		}
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", len(all)+1, err)
		}
		if c.BasicConstraintsValid && !c.IsCA {
			return nil, fmt.Errorf("%s is a server's certificate: give the certificate of the authority that signed it",
				c.Subject)
		}
		all = append(all, c)
	}
}
