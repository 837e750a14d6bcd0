package agents

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// CertificateError says that the agent with which the connection was made is not the expected one.
type CertificateError struct {
	URL string
	Err error // nil: its certificate is not the announced one
}

func (e *CertificateError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("agent at %s: its certificate is not the one its heartbeat announced", e.URL)
	}
	return fmt.Sprintf("agent at %s announced no certificate, and the one it has is not trusted: %v; name its authority "+
		"in driver_info/agent_verify_ca or --agent-ca", e.URL, e.Err)
}

func (e *CertificateError) Unwrap() error { return e.Err }

// Permanent says that an agent keeps the certificate it has until its next boot.
// Another than the announced one may be of another machine, and gone the next time.
func (e *CertificateError) Permanent() bool { return e.Err != nil }

// settingError says that an agent cannot be called as long as nothing is changed.
type settingError struct{ error }

// Permanent says that trying again does not help.
func (settingError) Permanent() bool { return true }

// trust is how the agent of one boot is known.
type trust struct {
	client  *Client
	url     string
	host    string
	der     []byte // of the announced certificate; nil where none was
	setting string // driver_info/agent_verify_ca, where none was
}

// trustIn chooses how to authenticate the agent of n: by the certificate that its heartbeat announced, else by
// authorities, as in Ironic. If an announced certificate is unreadable, the call is refused: authorities do not replace
// it.
func (c *Client) trustIn(n node.Node) (trust, error) {
	a := n.Agent
	u, err := url.Parse(a.URL)
	if err != nil || u.Hostname() == "" {
		return trust{}, fmt.Errorf("agent URL %q is not one; has the agent sent a heartbeat?", a.URL)
	}
	t := trust{client: c, url: a.URL, host: u.Hostname()}
	switch {
	case u.Scheme == "http" && c.PlainHTTP:
		return t, nil
	case u.Scheme != "https":
		return trust{}, settingError{
			fmt.Errorf("agent URL %q: expected https, since the token must not travel in clear; let the agent have a "+
				"certificate, or start the conductor with --agent-require-tls=false", a.URL),
		}
	case a.VerifyCA == "":
		if t.setting, err = c.VerifyCA(n); err != nil {
			return trust{}, fmt.Errorf("agent %s: %w", a.URL, err)
		}
		return t, nil
	}
	block, _ := pem.Decode([]byte(a.VerifyCA))
	if block == nil || block.Type != "CERTIFICATE" {
		return trust{}, settingError{
			fmt.Errorf("agent %s announced no certificate to know it by: expected one in PEM, found %d bytes of something else",
				a.URL, len(a.VerifyCA)),
		}
	}
	t.der = block.Bytes
	return t, nil
}

func (t trust) key() agentKey {
	if t.der != nil {
		return agentKey{t.url, sha256.Sum256(t.der)}
	}
	return agentKey{t.url, sha256.Sum256([]byte("setting " + t.setting))}
}

// verify is tls.Config.VerifyConnection. Names and times in an announced
// certificate do not matter: a machine that was just switched on may be in the
// wrong year. The authorities are read at each handshake, so that a changed file counts.
func (t trust) verify(s tls.ConnectionState) error {
	switch {
	case len(s.PeerCertificates) == 0:
		return &CertificateError{URL: t.url, Err: errors.New("it has none")}
	case t.der != nil:
		if !bytes.Equal(s.PeerCertificates[0].Raw, t.der) {
			return &CertificateError{URL: t.url}
		}
		return nil
	case t.setting == "false":
		return nil
	}
	roots := t.client.Roots
	if t.setting != "true" {
		var err error
		if roots, err = t.client.CAs.Pool(t.setting); err != nil {
			return settingError{fmt.Errorf("driver_info/agent_verify_ca %w", err)}
		}
	}
	host, _, _ := strings.Cut(t.host, "%") // a zone is of this host, and in no certificate
	options := x509.VerifyOptions{Roots: roots, DNSName: host, Intermediates: x509.NewCertPool()}
	for _, c := range s.PeerCertificates[1:] {
		options.Intermediates.AddCert(c)
	}
	if _, err := s.PeerCertificates[0].Verify(options); err != nil {
		return &CertificateError{URL: t.url, Err: err}
	}
	return nil
}
