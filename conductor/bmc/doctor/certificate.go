package doctor

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// notice is how long before its end a certificate is a problem.
const notice = 30 * 24 * time.Hour

// certificateOf reads a BMC's certificate, with any version of TLS: nothing secret is sent. It returns nil where there
// is no TLS, or no connection; the login will explain the latter.
func certificateOf(ctx context.Context, address string, within time.Duration) *Certificate {
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" {
		return nil
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	suites := []uint16{}
	for _, s := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		suites = append(suites, s.ID)
	}
	dialer := tls.Dialer{Config: &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS10, CipherSuites: suites,
		InsecureSkipVerify: true}} // it is only looked at
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return nil
	}
	defer conn.Close()
	state := conn.(*tls.Conn).ConnectionState()
	return describeCertificate(state, u.Hostname(), time.Now())
}

// describeCertificate describes the first certificate of a connection, and its problems, for people.
func describeCertificate(state tls.ConnectionState, host string, now time.Time) *Certificate {
	c := state.PeerCertificates[0]
	out := &Certificate{TLS: tls.VersionName(state.Version), Subject: text(c.Subject.String()),
		Issuer:  text(c.Issuer.String()),
		Expires: c.NotAfter.UTC()}
	for _, name := range c.DNSNames {
		out.Names = append(out.Names, text(name))
	}
	for _, ip := range c.IPAddresses {
		out.Names = append(out.Names, ip.String())
	}
	if state.Version < tls.VersionTLS12 {
		out.Problems = append(out.Problems, out.TLS+" is outdated: update the BMC's firmware, or set redfish_tls to legacy")
	}
	if err := c.VerifyHostname(host); err != nil {
		out.Problems = append(out.Problems, "it is not of "+text(host)+": redfish_verify_ca cannot be used with this address")
	}
	if c.Subject.String() == c.Issuer.String() {
		out.Problems = append(out.Problems, "it signs itself: set redfish_verify_ca to its PEM, or to false")
	}
	switch left := c.NotAfter.Sub(now); {
	case left < 0:
		out.Problems = append(out.Problems, "it has expired: renew it on the BMC")
	case left < notice:
		out.Problems = append(out.Problems, fmt.Sprintf("it expires in %d days", int(left.Hours()/24)))
	}
	if now.Before(c.NotBefore) {
		out.Problems = append(out.Problems, "it is not valid yet: check the clock of the BMC")
	}
	return out
}

// maxText bounds the texts of a certificate.
const maxText = 255

func text(s string) string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "..."
	}
	return nodeapi.Printable(s)
}
