package redfish

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/outbound/cacert"
	"github.com/ferrite-metal/ferrite/conductor/outbound/tlspolicy"
)

const (
	verifyKey = "redfish_verify_ca"
	tlsKey    = "redfish_tls"
	tlsLegacy = "legacy"
)

// errNegativeSerial is a certificate that RFC 5280 (4.1.2.2) forbids.
var errNegativeSerial = errors.New("x509: negative serial number")

// tlsConfig decides how the BMC's certificate is verified.
func (t *target) tlsConfig(folder cacert.Folder, otherwise tlspolicy.Policy) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, VerifyConnection: refuseNegativeSerial}
	policy, err := t.policy(otherwise)
	if err != nil {
		return nil, err
	}
	policy.Apply(c)
	if t.tls == tlsLegacy {
		// With the exchange of keys by RSA, all that firmware until about 2016 has (iDRAC 7 and 8, iLO 4, Supermicro X9 and
		// X10).
		c.MinVersion, c.CipherSuites, c.VerifyConnection = tls.VersionTLS10, tlspolicy.Suites(), nil
	}
	switch t.verify {
	case "true":
		return c, nil
	case "false":
		c.InsecureSkipVerify = true // the operator's decision; BMCs come with self-signed certificates
		return c, nil
	}
	pool, err := folder.Pool(t.verify)
	if err != nil {
		return nil, driverinfo.Wrong(verifyKey, "%v", err)
	}
	c.RootCAs = pool
	return c, nil
}

// policy is the versions and cipher suites of the node's settings, each as the driver is set where the node has none.
func (t *target) policy(otherwise tlspolicy.Policy) (tlspolicy.Policy, error) {
	own, err := tlspolicy.Parse(t.minimum, t.ciphers, "1.1")
	if err != nil {
		return own, err
	}
	if t.minimum == "" {
		own.Minimum = otherwise.Minimum
	}
	if t.ciphers == "" {
		own.Suites = otherwise.Suites
	}
	return own, nil
}

// refuseNegativeSerial keeps the strictness of crypto/x509 where redfish_tls is not legacy:
// the program lets such certificates be read at all (go:debug x509negativeserial).
func refuseNegativeSerial(s tls.ConnectionState) error {
	if slices.ContainsFunc(s.PeerCertificates, func(c *x509.Certificate) bool { return c.SerialNumber.Sign() < 0 }) {
		return errNegativeSerial
	}
	return nil
}

// outdatedTLS reports a failure that redfish_tls: legacy may help against: the BMC has no
// version or no cipher suite in common with us, or a certificate of old firmware.
func outdatedTLS(err error) bool {
	var alert tls.AlertError
	if errors.As(err, &alert) {
		const handshakeFailure, protocolVersion, insufficientSecurity = 40, 70, 71
		return slices.Contains([]tls.AlertError{handshakeFailure, protocolVersion, insufficientSecurity}, alert)
	}
	text := err.Error()
	return slices.ContainsFunc([]string{"remote error: tls: handshake failure", "unsupported protocol version",
		"protocol version not supported", "negative serial number", "insufficient security level",
		"server chose an unconfigured cipher suite"}, func(s string) bool { return strings.Contains(text, s) })
}
