package tlspolicy_test

import (
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/outbound/tlspolicy"
)

func TestParse(t *testing.T) {
	const gcm, old = tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_3DES_EDE_CBC_SHA
	for _, c := range []struct {
		minimum, ciphers string
		version          uint16
		suites           []uint16
		refused          string
	}{
		{version: tls.VersionTLS12},
		{minimum: "1.1", version: tls.VersionTLS11},
		{minimum: "1.3", version: tls.VersionTLS13},
		{ciphers: "ecdhe-rsa-aes128-gcm-sha256:DES-CBC3-SHA", version: tls.VersionTLS12, suites: []uint16{gcm, old}},
		{ciphers: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_RSA_WITH_3DES_EDE_CBC_SHA", version: tls.VersionTLS12,
			suites: []uint16{gcm, old}},
		{ciphers: "ECDHE-ECDSA-CHACHA20-POLY1305", version: tls.VersionTLS12,
			suites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256}},
		{minimum: "1.0", refused: `must be one of 1.1, 1.2, 1.3, not "1.0"`},
		{minimum: "TLSv1.2", refused: "must be one of"},
		{ciphers: "HIGH:!aNULL", refused: `has "HIGH", which is not known: choose from AES128-GCM-SHA256,`},
		{ciphers: "RC4-SHA", refused: "is not known"},
		{ciphers: "TLS_AES_128_GCM_SHA256", refused: "which is of TLS 1.3"},
		{ciphers: " : ", refused: "names no cipher suite"},
		{minimum: "1.3", ciphers: "AES128-SHA", refused: "has no effect with the minimum version 1.3"},
	} {
		p, err := tlspolicy.Parse(c.minimum, c.ciphers, "1.1")
		if c.refused != "" {
			var odd *tlspolicy.Error
			if !errors.As(err, &odd) || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%q, %q: %v, want %q", c.minimum, c.ciphers, err, c.refused)
			}
			continue
		}
		var conf tls.Config
		p.Apply(&conf)
		if err != nil || conf.MinVersion != c.version || !slices.Equal(conf.CipherSuites, c.suites) {
			t.Errorf("%q, %q: %v, %#x %v", c.minimum, c.ciphers, err, conf.MinVersion, conf.CipherSuites)
		}
	}
	if _, err := tlspolicy.Parse("1.1", "", "1.2"); err == nil || !strings.Contains(err.Error(), "one of 1.2, 1.3") {
		t.Errorf("an older version than the least: %v", err)
	}
}

// Every suite that Go has but RC4 has a name of its own.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		if s.SupportedVersions[0] == tls.VersionTLS13 || strings.Contains(s.Name, "RC4") {
			continue
		}
		name := tlspolicy.OpenSSLName(s.Name)
		p, err := tlspolicy.Parse("", name, "1.2")
		if err != nil || len(p.Suites) != 1 || p.Suites[0] != s.ID || p.OpenSSLList() != name ||
			seen[name] || strings.Contains(name, "_") {
			t.Errorf("%s is %q: %v, %v", s.Name, name, p, err)
		}
		seen[name] = true
	}
}
