package serve

import (
	"cmp"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/outbound/tlspolicy"
)

// tlsWords are the oldest version of TLS and the cipher suites of one service, as an operator writes them.
type tlsWords struct {
	Minimum, Ciphers string
	prefix, least    string // of the settings, and of the versions
}

// tlsVars declares both settings of a service. Ironic's options have the same names and values.
func (s *settings) tlsVars(at *tlsWords, prefix, what, least string) {
	at.prefix, at.least = prefix, least
	node := func(key string) string {
		if prefix != "bmc-" {
			return ""
		}
		return "; for one node: " + key + " in its driver_info"
	}
	s.wordVar(func(w string) { at.Minimum = w }, prefix+"tls-minimum-version", "1.2",
		"oldest version of TLS "+what+node(driverinfo.MinimumKey), tlspolicy.Versions(least)...)
	s.StringVar(&at.Ciphers, prefix+"tls-ciphers", "",
		"cipher `suites` of TLS 1.2 "+what+", by their names in OpenSSL or IANA, with colons between; TLS 1.3 always has "+
			"its own (default: the secure ones)"+node(driverinfo.CiphersKey))
}

// policy reads the settings of a service.
func (w tlsWords) policy() (tlspolicy.Policy, error) {
	p, err := tlspolicy.Parse(cmp.Or(w.Minimum, "1.2"), w.Ciphers, w.least)
	if err != nil {
		return p, fmt.Errorf("--%stls-ciphers %w", w.prefix, err)
	}
	return p, nil
}

// checkTLSPolicies refuses cipher suites that are not known.
func (c *Config) checkTLSPolicies() error {
	for _, w := range []tlsWords{c.APITLS, c.AgentsTLS, c.BMCTLS} {
		if _, err := w.policy(); err != nil {
			return err
		}
	}
	return nil
}
