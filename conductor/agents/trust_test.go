package agents

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound"
	"github.com/ferrite-metal/ferrite/conductor/outbound/cacert"
)

// authority signs certificates of agents.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue makes a certificate; without an authority it signs itself.
func (a *authority) issue(t *testing.T, change func(*x509.Certificate)) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true,
	}
	change(template)
	signer, signerKey := template, key
	if a != nil {
		signer, signerKey = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer, key.Public(), signerKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

func newAuthority(t *testing.T, above *authority) *authority {
	t.Helper()
	cert, key := above.issue(t, func(c *x509.Certificate) { c.IsCA, c.IPAddresses = true, nil })
	return &authority{cert, key}
}

func pemOf(c *x509.Certificate) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
}

func poolOf(c *x509.Certificate) *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(c)
	return p
}

func list(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"commands":[]}`) }

// serveWith is an agent with a certificate and those above it.
func serveWith(t *testing.T, key *ecdsa.PrivateKey, chain ...*x509.Certificate) string {
	t.Helper()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(list))
	cert := tls.Certificate{PrivateKey: key}
	for _, c := range chain {
		cert.Certificate = append(cert.Certificate, c.Raw)
	}
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv.URL
}

// site has agents with certificates of all kinds, and the authorities that signed them.
type site struct {
	root, middle, other                                         *authority
	good, chained, expired, wrongName, client, foreign, selfURL string
	self                                                        *x509.Certificate
}

func newSite(t *testing.T) site {
	t.Helper()
	s := site{root: newAuthority(t, nil), other: newAuthority(t, nil)}
	s.middle = newAuthority(t, s.root)
	agent := func(a *authority, change func(*x509.Certificate), above ...*x509.Certificate) string {
		c, key := a.issue(t, change)
		return serveWith(t, key, append([]*x509.Certificate{c}, above...)...)
	}
	as := func(*x509.Certificate) {}
	s.good, s.foreign = agent(s.root, as), agent(s.other, as)
	s.chained = agent(s.middle, as, s.middle.cert)
	s.expired = agent(s.root, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	s.wrongName = agent(s.root, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"web-1"} })
	s.client = agent(s.root, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })
	self, key := (*authority)(nil).issue(t, as)
	s.self, s.selfURL = self, serveWith(t, key, self)
	return s
}

// TestAuthorities: an agent that announces no certificate is believed by the
// node's agent_verify_ca, else by the conductor's authorities.
func TestAuthorities(t *testing.T) {
	s := newSite(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), []byte(pemOf(s.root.cert)), 0o600); err != nil {
		t.Fatal(err)
	}
	const unknown = "signed by unknown authority"
	root, other := pemOf(s.root.cert), pemOf(s.other.cert)
	for name, tt := range map[string]struct {
		url, setting, announced, wrong string
	}{
		"a conductor's authority":         {s.good, "true", "", ""},
		"an authority between":            {s.chained, "true", "", ""},
		"expired":                         {s.expired, "true", "", "has expired"},
		"another name":                    {s.wrongName, "true", "", "doesn't contain any IP SANs"},
		"a certificate of clients":        {s.client, "true", "", "incompatible key usage"},
		"an unknown authority":            {s.foreign, "true", "", unknown},
		"self-signed":                     {s.selfURL, "true", "", "agent_verify_ca or --agent-ca"},
		"the node's authority":            {s.foreign, other, "", ""},
		"the node's authority alone":      {s.good, other, "", unknown},
		"expired by the node's authority": {s.expired, root, "", "has expired"},
		"the node's self-signed":          {s.selfURL, pemOf(s.self), "", ""},
		"a file":                          {s.good, "ca.pem", "", ""},
		"a file of others":                {s.foreign, "ca.pem", "", unknown},
		"no such file":                    {s.good, "none.pem", "", "driver_info/agent_verify_ca names nothing"},
		"a file outside": {s.good, "/etc/ssl/certs/ca-certificates.crt", "",
			"driver_info/agent_verify_ca names nothing"},
		"nobody is checked, self-signed":    {s.selfURL, "false", "", ""},
		"nobody is checked, expired":        {s.expired, "false", "", ""},
		"announced":                         {s.selfURL, "true", pemOf(s.self), ""},
		"announced, of no settings":         {s.selfURL, other, pemOf(s.self), ""},
		"another announced":                 {s.good, "true", pemOf(s.self), "not the one its heartbeat announced"},
		"another announced, nobody checked": {s.good, "false", pemOf(s.self), "not the one its heartbeat announced"},
		"its authority announced":           {s.good, "true", root, "not the one its heartbeat announced"},
		"nonsense announced":                {s.good, "true", "nonsense", "no certificate"},
		"nonsense announced, not checked":   {s.good, "false", "nonsense", "no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			c := NewClient(ClientOptions{
				CAs: cacert.Folder(dir), Roots: poolOf(s.root.cert),
				VerifyCA: func(node.Node) (string, error) { return tt.setting, nil },
			})
			defer c.Close()
			_, err := c.Commands(t.Context(), of(node.Agent{URL: tt.url, Token: agentToken, VerifyCA: tt.announced}))
			if tt.wrong == "" && err != nil || tt.wrong != "" &&
				(err == nil || !strings.Contains(err.Error(), tt.wrong) || strings.Contains(err.Error(), agentToken)) {
				t.Errorf("error %v, want %q", err, tt.wrong)
			}
			var p interface{ Permanent() bool }
			if passes := strings.Contains(tt.wrong, "announced"); tt.wrong != "" &&
				passes == (errors.As(err, &p) && p.Permanent()) {
				t.Errorf("tried again: %v, of %v", !passes, err)
			}
		})
	}
}

// TestSettingChanges: connections made by a setting, or by a file's older content,
// are used for no other.
func TestSettingChanges(t *testing.T) {
	s := newSite(t)
	file := filepath.Join(t.TempDir(), "ca.pem")
	setting := "ca.pem"
	c := NewClient(ClientOptions{
		CAs: cacert.Folder(filepath.Dir(file)), VerifyCA: func(node.Node) (string, error) { return setting, nil },
	})
	defer c.Close()
	for _, step := range []struct {
		ca      *x509.Certificate
		setting string
		trusted bool
	}{{s.root.cert, "ca.pem", true}, {s.root.cert, "true", false}, {s.root.cert, "false", true},
		{s.root.cert, "true", false}, {s.other.cert, "ca.pem", false}} {
		if err := os.WriteFile(file, []byte(pemOf(step.ca)), 0o600); err != nil {
			t.Fatal(err)
		}
		setting = step.setting
		_, err := c.Commands(t.Context(), of(node.Agent{URL: s.good, Token: agentToken}))
		if (err == nil) != step.trusted {
			t.Errorf("%+v: %v", step, err)
		}
		for _, conn := range c.agents {
			conn.client.CloseIdleConnections()
		}
	}
}

// TestPlainHTTP: the token travels in clear only where the operator said so.
func TestPlainHTTP(t *testing.T) {
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked++; list(w, r) }))
	defer srv.Close()
	for let, want := range map[bool]int{false: 0, true: 1} {
		asked = 0
		c := NewClient(ClientOptions{PlainHTTP: let})
		_, err := c.Commands(t.Context(), of(node.Agent{URL: srv.URL, Token: agentToken}))
		var p interface{ Permanent() bool }
		if asked != want || let && err != nil || !let &&
			(!errors.As(err, &p) || !p.Permanent() || !strings.Contains(err.Error(), "--agent-require-tls=false")) {
			t.Errorf("let %v: asked %d times, error %v", let, asked, err)
		}
		c.Close()
	}
}

// TestAgentsAddress: an agent on the conductor's own host is not called, by any name, unless the operator allows it.
func TestAgentsAddress(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(list))
	defer srv.Close()
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	for _, tt := range []struct {
		allow, host string
		called      bool
	}{
		{"", "127.0.0.1", false}, {"", "localhost", false}, {"", "[::ffff:127.0.0.1]", false},
		{"127.0.0.0/8", "127.0.0.1", true}, {"", "169.254.169.254", false}, {"", "[fe80::1%25lo]", false},
		{"", "0.0.0.0", false},
	} {
		policy, err := outbound.New("agent-allow", strings.Fields(tt.allow))
		if err != nil {
			t.Fatal(err)
		}
		c := NewClient(ClientOptions{PlainHTTP: true, Dialer: policy.Dialer()})
		_, err = c.Commands(t.Context(), of(node.Agent{URL: "http://" + tt.host + ":" + port, Token: agentToken}))
		if refused := new(outbound.Refused); tt.called != (err == nil) || !tt.called &&
			(!errors.As(err, &refused) || !strings.Contains(err.Error(), "--agent-allow")) {
			t.Errorf("%+v: %v", tt, err)
		}
		c.Close()
	}
}

// TestPathOfAgent: an agent behind a proxy is called below the path of its URL.
func TestPathOfAgent(t *testing.T) {
	var got string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.Path
		list(w, r)
	}))
	defer srv.Close()
	c := NewClient(ClientOptions{PlainHTTP: true})
	defer c.Close()
	if _, err := c.Commands(t.Context(), of(node.Agent{URL: srv.URL + "/agents/web-1/", Token: agentToken})); err != nil ||
		got != "/agents/web-1/v1/commands/" {
		t.Errorf("asked for %q: %v", got, err)
	}
}
