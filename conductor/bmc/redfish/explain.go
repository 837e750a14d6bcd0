package redfish

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// explain returns the remedy for a failed connection; "" for a failure that needs no more words than it has.
func explain(err error) string {
	var record tls.RecordHeaderError
	var host x509.HostnameError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var connect *connectError
	switch text := err.Error(); {
	case errors.As(err, &connect):
		return fmt.Sprintf("%v: check redfish_address and the network between, or raise --bmc-connect-timeout "+
			"or driver_info bmc_connect_timeout", connect)
	case errors.Is(err, syscall.ECONNREFUSED):
		return clip(text, maxWords) + ": check redfish_address, its port, and that Redfish is enabled on the BMC"
	case errors.As(err, &record), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return "the port does not speak TLS: set redfish_address to the BMC's https port, or begin it with http:// if " +
			"the BMC has no TLS"
	case errors.As(err, &host):
		return fmt.Sprintf("the certificate is of another host (%s): install one of the BMC's own address on it, set "+
			"redfish_address to a name in it, or redfish_verify_ca to false on a network you trust", certified(host))
	case errors.As(err, &authority):
		return "certificate signed by unknown authority: set redfish_verify_ca to the PEM of its authority, or to " +
			"false on a network you trust"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate has expired, or the clock of one side is wrong: renew it on the BMC, or set " +
			"redfish_verify_ca to false on a network you trust"
	case outdatedTLS(err):
		return fmt.Sprintf("%s: the BMC has outdated TLS: update its firmware, or set driver_info redfish_tls to legacy "+
			"(redfish_tls_minimum_version and redfish_tls_ciphers, where they are set, may exclude it)",
			clip(text, maxWords))
	}
	return ""
}

// noServiceRoot is the error of a BMC without a readable service root. A web server without one is another server, or
// another port of the BMC.
func noServiceRoot(err error) error {
	err = fmt.Errorf("read the service root: %w", err)
	if status(err) != http.StatusNotFound {
		return err
	}
	return fmt.Errorf("%w: is it a Redfish BMC, and the right port? check redfish_address, and that Redfish is enabled "+
		"on the BMC", describe(err))
}

// certified lists the names that a certificate has.
func certified(e x509.HostnameError) string {
	names := append([]string{}, e.Certificate.DNSNames...)
	for _, ip := range e.Certificate.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		names = []string{e.Certificate.Subject.CommonName}
	}
	return clip(nodeapi.Printable(strings.Join(names, ", ")), 200)
}
