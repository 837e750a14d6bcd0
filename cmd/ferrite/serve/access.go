package serve

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/server/certificate"
)

// checkAuth refuses settings by which the wrong people, or none, could command the
// machines.
func (c *Config) checkAuth() error {
	for _, how := range c.Auth {
		if !slices.Contains([]string{"none", "basic", "token", "keystone"}, how) {
			return fmt.Errorf("--auth %q: expected none, or some of basic, token and keystone", how)
		}
	}
	basic, token, none := slices.Contains(c.Auth, "basic"), slices.Contains(c.Auth, "token"),
		slices.Contains(c.Auth, "none")
	switch {
	case len(c.Auth) == 0 || none && len(c.Auth) > 1:
		return fmt.Errorf("--auth %s: expected none, or some of basic, token and keystone", strings.Join(c.Auth, ","))
	case basic != (c.Htpasswd != ""):
		return errors.New("--auth basic and --htpasswd-file go together: one of them is missing; make the file with: " +
			"ferrite user password NAME")
	case token && c.Users == "":
		return errors.New("--auth token needs --users-file: make one with: ferrite user set NAME " +
			"--role ROLE, and ferrite user token NAME")
	case none && c.PolicyFile != "":
		return errors.New("--policy-file has rules about callers, but --auth none asks no caller for a user: set " +
			"--auth basic, token or both")
	case none && c.Users != "":
		return errors.New("--users-file gives users their roles, but --auth none asks no caller for a user: set " +
			"--auth basic, " +
			"token or both")
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return errors.New("--tls-cert and --tls-key go together: one of them is missing")
	case c.TLSCert != "" && strings.HasPrefix(c.AdvertiseURL, "http://"):
		return fmt.Errorf("--advertise-url %s is plain http, but with --tls-cert the API is https: no ramdisk could call it",
			c.AdvertiseURL)
	}
	if u, err := url.Parse(c.PublicURL); c.PublicURL != "" && (err != nil || len(rest.Origins(c.PublicURL)) == 0 ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "") {
		return fmt.Errorf("--public-url %q: expected a URL such as https://cloud.example/metal", c.PublicURL)
	}
	for _, name := range c.AllowedHosts {
		if u, err := url.Parse("//" + name); err != nil || name == "" || u.Host != name || u.Port() != "" {
			return fmt.Errorf("--allowed-host %q: expected a name such as metal.example, without scheme and port", name)
		}
	}
	if !none || c.AllowAnybody {
		return nil
	}
	at, err := net.ResolveTCPAddr("tcp", c.APIAddress)
	if err != nil {
		return fmt.Errorf("--api-address %s: %w", c.APIAddress, err)
	}
	if !at.IP.IsLoopback() {
		return fmt.Errorf("--api-address %s with --auth none: every host that reaches it could command the machines\n"+
			"  have operators say who they are: --auth basic --htpasswd-file FILE (make it with: ferrite user password NAME)\n"+
			"  or listen on 127.0.0.1, or, on a network without other users, set --allow-anybody", c.APIAddress)
	}
	return nil
}

// inCloud reports whether callers log in with tokens of OpenStack.
func (c *Config) inCloud() bool { return slices.Contains(c.Auth, "keystone") }

// access opens the users and the certificate of the API. Each is nil when there is none. The logins of browsers are
// sealed with a key derived from secrets; nil for a trial of the files.
func (c *Config) access(secrets []byte, log *slog.Logger) (*auth.Authenticator, *certificate.Certificate, error) {
	var (
		who  *auth.Authenticator
		cert *certificate.Certificate
		err  error
	)
	if !slices.Contains(c.Auth, "none") {
		o := auth.Options{Htpasswd: c.Htpasswd, Users: c.Users, Tokens: slices.Contains(c.Auth, "token"),
			PublicURL: c.PublicURL, Log: log}
		for _, e := range c.extras {
			err = errors.Join(err, e.identity(c, &o))
		}
		if err != nil {
			return nil, nil, err
		}
		if o.Policy, err = c.openPolicy(o.Keystone, log); err != nil {
			return nil, nil, err
		}
		who, err = auth.New(o)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil,
				fmt.Errorf("--htpasswd-file, --users-file: %w; make them with: ferrite user set NAME --role ROLE, and "+
					"ferrite user password NAME", err)
		}
		if err == nil && secrets != nil {
			err = who.KeepSessions(secrets)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if c.TLSCert != "" {
		policy, perr := c.APITLS.policy()
		if cert, err = certificate.Open(c.TLSCert, c.TLSKey, log); err != nil || perr != nil {
			return nil, nil, cmp.Or(err, perr)
		}
		cert.Restrict(policy.Apply)
	}
	return who, cert, nil
}

// openPolicy reads --policy-file; nil without it.
func (c *Config) openPolicy(keystone auth.Keystone, log *slog.Logger) (*auth.PolicyFile, error) {
	if c.PolicyFile == "" {
		return nil, nil
	}
	services := ""
	if keystone != nil {
		services = keystone.Project()
	}
	p, err := auth.OpenPolicyFile(c.PolicyFile, services, log)
	if err != nil {
		return nil, fmt.Errorf("--policy-file: %w", err)
	}
	return p, nil
}

// onlyHosts has h answer to this conductor's own names only. Without a login, a web page could otherwise reach the API
// through a browser (DNS rebinding).
func (c *Config) onlyHosts(h http.Handler, log *slog.Logger) http.Handler {
	if !slices.Contains(c.Auth, "none") {
		return h
	}
	names := slices.Clone(c.AllowedHosts)
	for _, address := range []string{c.AdvertiseURL, c.PublicURL} {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			names = append(names, u.Host)
		}
	}
	return api.OnlyHosts(names, h, log)
}

// scheme is the scheme of the API's URLs.
func (c *Config) scheme() string {
	if c.TLSCert != "" {
		return "https://"
	}
	return "http://"
}

// warnOpen warns when everyone on a network can command the machines, or can read the passwords of operators.
func (c *Config) warnOpen(a net.Addr, log *slog.Logger) {
	tcp, ok := a.(*net.TCPAddr)
	switch {
	case !ok || tcp.IP.IsLoopback():
	case slices.Contains(c.Auth, "none"):
		log.Warn("the API takes orders from anybody who reaches it: keep this network to the machines and their operators",
			"api", a.String(), "auth", "none")
	case c.TLSCert == "":
		log.Warn("passwords and tokens cross the network in clear: say --tls-cert and --tls-key, or keep this network to "+
			"the machines and their operators", "api", a.String())
	}
}
