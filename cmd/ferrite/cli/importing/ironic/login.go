package ironic

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/secret"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Login is the caller's identity at Ironic: none, a name with a password (HTTP Basic), a token, or a user of Keystone.
// It reads the same environment as Ironic's own clients.
type Login struct {
	user, passwordFile, tokenFile string // of Ironic itself
	authURL, keystoneUser         string
	keystonePasswordFile          string
	userDomain, project           string
	projectDomain, system         string

	password, token  string
	keystonePassword string
}

// Add declares the flags. Secrets have none: a command line is everybody's to see.
func (l *Login) Add(f *pflag.FlagSet, env func(string) string) {
	text := func(to *string, name, variable, usage string) {
		f.StringVar(to, name, env(variable), usage+", also $"+variable)
		f.Lookup(name).DefValue = ""
	}
	text(&l.user, "ironic-user", "IRONIC_USER", "log in to Ironic as this `user` (HTTP Basic); the password is in "+
		"$IRONIC_PASSWORD or --ironic-password-file")
	f.StringVar(&l.passwordFile, "ironic-password-file", "", "`file` whose first line is the password of --ironic-user")
	f.StringVar(&l.tokenFile, "os-token-file", "", "`file` whose first line is a token of Keystone; $OS_TOKEN is a token "+
		"itself")
	text(&l.authURL, "os-auth-url", "OS_AUTH_URL", "`URL` of Keystone")
	text(&l.keystoneUser, "os-username", "OS_USERNAME", "`user` of Keystone; the password is in $OS_PASSWORD or "+
		"--os-password-file")
	f.StringVar(&l.keystonePasswordFile, "os-password-file", "", "`file` whose first line is the password of --os-username")
	text(&l.userDomain, "os-user-domain-name", "OS_USER_DOMAIN_NAME", "`domain` of the user, Default if not given")
	text(&l.project, "os-project-name", "OS_PROJECT_NAME", "`project` to act for")
	text(&l.projectDomain, "os-project-domain-name", "OS_PROJECT_DOMAIN_NAME", "`domain` of the project, Default if not "+
		"given")
	text(&l.system, "os-system-scope", "OS_SYSTEM_SCOPE", "`all` to act for the whole system instead of a project")
}

// Read gathers the secrets.
func (l *Login) Read(stdin io.Reader, env func(string) string) error {
	l.password, l.token, l.keystonePassword = env("IRONIC_PASSWORD"), env("OS_TOKEN"), env("OS_PASSWORD")
	for _, f := range []struct {
		flag, path string
		to         *string
	}{
		{"--ironic-password-file", l.passwordFile, &l.password}, {"--os-token-file", l.tokenFile, &l.token},
		{"--os-password-file", l.keystonePasswordFile, &l.keystonePassword},
	} {
		if f.path == "" {
			continue
		}
		var err error
		if *f.to, err = secret.FirstLine(stdin, f.flag, f.path); err != nil {
			return err
		}
	}
	if l.user != "" && l.password == "" {
		return errors.New("the password of --ironic-user is missing: set IRONIC_PASSWORD or --ironic-password-file")
	}
	if l.renews() && l.keystonePassword == "" {
		return errors.New("the password of --os-username is missing: set OS_PASSWORD or --os-password-file")
	}
	return nil
}

// renews reports whether a token can be had of Keystone.
func (l *Login) renews() bool { return l.authURL != "" && l.keystoneUser != "" }

func (l *Login) authorize(r *http.Request) {
	switch {
	case l.token != "":
		r.Header.Set("X-Auth-Token", l.token)
	case l.user != "":
		r.SetBasicAuth(l.user, l.password)
	}
}

// maxToken bounds the answer of Keystone.
const maxToken = 4 << 20

// begin has Keystone give a token, where a user of Keystone is named.
func (l *Login) begin(ctx context.Context, client *http.Client) error {
	if !l.renews() {
		return nil
	}
	u, err := url.Parse(l.authURL)
	if err != nil || u.Host == "" || u.User != nil {
		return fmt.Errorf("--os-auth-url %q: expected http(s)://HOST:PORT/v3, without a user",
			nodeapi.MaskText(l.authURL))
	}
	base := strings.TrimRight(l.authURL, "/")
	if !strings.HasSuffix(base, "/v3") {
		base += "/v3"
	}
	body, err := json.Marshal(map[string]any{"auth": l.request()})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/auth/tokens", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("keystone at %s: %w", l.authURL, err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxToken)); err != nil {
		return fmt.Errorf("keystone at %s: %w", l.authURL, err)
	}
	if l.token = resp.Header.Get("X-Subject-Token"); resp.StatusCode != http.StatusCreated || l.token == "" {
		l.token = ""
		return fmt.Errorf("keystone at %s gives no token for user %s: it answers %s; check the user, its password, project "+
			"and domains", l.authURL, l.keystoneUser, resp.Status)
	}
	return nil
}

func (l *Login) request() map[string]any {
	domain := func(name string) map[string]any { return map[string]any{"name": cmp.Or(name, "Default")} }
	request := map[string]any{"identity": map[string]any{"methods": []string{"password"}, "password": map[string]any{
		"user": map[string]any{"name": l.keystoneUser, "domain": domain(l.userDomain), "password": l.keystonePassword}}}}
	switch {
	case l.system != "":
		request["scope"] = map[string]any{"system": map[string]any{"all": true}}
	case l.project != "":
		request["scope"] = map[string]any{"project": map[string]any{"name": l.project, "domain": domain(l.projectDomain)}}
	}
	return request
}
