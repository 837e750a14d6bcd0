//go:build keystone

package clients

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	gopher "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/lab/openstack"
	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

// TestKeystone: Ironic's CLI, unmodified, through Debian's Keystone; the rights of each role; tokens that end.
func TestKeystone(t *testing.T) {
	suitetest.Need(t, "keystone-test")
	installed(t, ironicClient, "python3-ironicclient")
	k, err := openstack.StartKeystone(t.Context(), openstack.Here, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Stop(); err != nil {
			t.Error(err)
		}
	})
	admin, err := k.Admin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	projects := map[string]string{} // UUIDs by name
	for _, g := range [][4]string{
		{"ironic", "ironic-password", "service", "service"},
		{"reader", "pw", "", "reader"},
		{"owner", "pw", "blue", "member"},
		{"nobody", "pw", "blue", "auditor"},
	} {
		id, err := k.Grant(t.Context(), admin, g[0], g[1], g[2], g[3])
		if err != nil {
			t.Fatal(g, err)
		}
		projects[g[2]] = id
	}
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("ironic-password\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := []string{"--auth", "keystone", "--keystone-url", k.URL, "--keystone-password-file", password}

	t.Run("scripts", func(t *testing.T) {
		files, err := filepath.Glob("testdata/baremetal/*.txt")
		if err != nil || len(files) < 8 {
			t.Fatalf("%d scripts, expected 8 or more: %v", len(files), err)
		}
		token := tokenOf(t, k, "admin", openstack.AdminPassword, "admin")
		runScriptsAt(t, login{
			serve: settings,
			sign:  func(r *http.Request) { r.Header.Set("X-Auth-Token", token) },
			env: []string{"OS_AUTH_TYPE=password", "OS_AUTH_URL=" + k.URL, "OS_USERNAME=admin",
				"OS_PASSWORD=" + openstack.AdminPassword, "OS_PROJECT_NAME=admin", "OS_USER_DOMAIN_NAME=Default",
				"OS_PROJECT_DOMAIN_NAME=Default"},
			announce: func(url string) ([]string, error) {
				region := "at-" + url[strings.LastIndex(url, ":")+1:]
				return []string{"OS_REGION_NAME=" + region}, k.Endpoint(t.Context(), admin, "baremetal", region, url)
			},
		}, files...)
	})
	t.Run("callers", func(t *testing.T) {
		c := servetest.Start(t, serve.Command(), filepath.Join(t.TempDir(), "data"),
			append(settings, "--keystone-cache", "0s")...)
		defer c.End(t)
		callers(t, c, k, projects["blue"])
		revoked(t, c, k)
		away(t, c, k)
	})
}

// callers checks each caller's rights on nodes. The project blue owns one of them.
func callers(t *testing.T, c *servetest.Conductor, k *openstack.Keystone, blue string) {
	as := func(token, method, path string, body any) int {
		t.Helper()
		c.Sign = func(r *http.Request) {
			if token != "" {
				r.Header.Set("X-Auth-Token", token)
			}
		}
		status, _, err := c.Send(method, path, body)
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	boss := tokenOf(t, k, "admin", openstack.AdminPassword, "admin")
	for name, owner := range map[string]any{"ours": blue, "theirs": nil} {
		if got := as(boss, http.MethodPost, "/v1/nodes",
			map[string]any{"name": name, "driver": "fake-hardware", "owner": owner}); got != http.StatusCreated {
			t.Fatalf("create %s: %d", name, got)
		}
	}
	service := tokenOf(t, k, "ironic", "ironic-password", "service")
	reader, owner := tokenOf(t, k, "reader", "pw", "system"), tokenOf(t, k, "owner", "pw", "blue")
	extra := []any{map[string]any{"op": "add", "path": "/extra/a", "value": 1}}
	for _, row := range []struct {
		name, token, method, path string
		body                      any
		want                      int
	}{
		{"nobody", "", http.MethodGet, "/v1/nodes", nil, http.StatusUnauthorized},
		{"nobody", "", http.MethodGet, "/v1", nil, http.StatusOK},
		{"garbage", "gAAAAABgarbage", http.MethodGet, "/v1/nodes", nil, http.StatusUnauthorized},
		{"unscoped", tokenOf(t, k, "owner", "pw", ""), http.MethodGet, "/v1/nodes", nil, http.StatusForbidden},
		{"no role of ours", tokenOf(t, k, "nobody", "pw", "blue"), http.MethodGet, "/v1/nodes", nil, http.StatusForbidden},
		{"service", service, http.MethodGet, "/v1/nodes/theirs", nil, http.StatusOK},
		{"service", service, http.MethodPatch, "/v1/nodes/theirs", extra, http.StatusOK},
		{"system reader", reader, http.MethodGet, "/v1/nodes/theirs", nil, http.StatusOK},
		{"system reader", reader, http.MethodPatch, "/v1/nodes/theirs", extra, http.StatusForbidden},
		{"owner", owner, http.MethodGet, "/v1/nodes/ours", nil, http.StatusOK},
		{"owner", owner, http.MethodGet, "/v1/nodes/theirs", nil, http.StatusNotFound},
		{"owner", owner, http.MethodPatch, "/v1/nodes/ours", extra, http.StatusOK},
		{"owner", owner, http.MethodGet, "/v1/drivers", nil, http.StatusForbidden},
	} {
		if got := as(row.token, row.method, row.path, row.body); got != row.want {
			t.Errorf("%s: %s %s answers %d, expected %d", row.name, row.method, row.path, got, row.want)
		}
	}
}

// revoked: a token that its user has revoked is refused.
func revoked(t *testing.T, c *servetest.Conductor, k *openstack.Keystone) {
	token := tokenOf(t, k, "owner", "pw", "blue")
	c.Sign = func(r *http.Request) { r.Header.Set("X-Auth-Token", token) }
	c.Call(t, http.MethodGet, "/v1/nodes", nil, http.StatusOK)
	admin, err := k.Admin(t.Context())
	if err == nil {
		err = tokens.Revoke(t.Context(), admin, token).Err
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Call(t, http.MethodGet, "/v1/nodes", nil, http.StatusUnauthorized)
}

// away: while Keystone is away no caller gets in, and no answer calls a token wrong.
func away(t *testing.T, c *servetest.Conductor, k *openstack.Keystone) {
	token := tokenOf(t, k, "owner", "pw", "blue")
	if err := k.Stop(); err != nil {
		t.Fatal(err)
	}
	c.Sign = func(r *http.Request) { r.Header.Set("X-Auth-Token", token) }
	c.Call(t, http.MethodGet, "/v1/nodes", nil, http.StatusServiceUnavailable)
	if !strings.Contains(c.Log.String(), "a token could not be checked") {
		t.Error("the log does not say that Keystone is away")
	}
}

// tokenOf is a token of a user for a project, "system" for the system and "" for no scope.
func tokenOf(t *testing.T, k *openstack.Keystone, user, password, scope string) string {
	t.Helper()
	o := gophercloud.AuthOptions{IdentityEndpoint: k.URL, Username: user, Password: password, DomainName: "Default"}
	switch scope {
	case "":
		o.Scope = &gophercloud.AuthScope{}
	case "system":
		o.Scope = &gophercloud.AuthScope{System: true}
	default:
		o.Scope = &gophercloud.AuthScope{ProjectName: scope, DomainName: "Default"}
	}
	p, err := gopher.AuthenticatedClient(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatalf("token of %s for %q: %v", user, scope, err)
	}
	return p.Token()
}
