//go:build keystone

package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
	"github.com/ferrite-metal/ferrite/lab/openstack"
	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

// lifetime is the lifetime of short tokens.
const lifetime = 30 * time.Second

// databasePassword has characters that a URL must escape.
const databasePassword = "p/w@1?%"

// importers are a Keystone, and a conductor that takes its tokens.
type importers struct {
	keystone  *openstack.Keystone
	conductor *servetest.Conductor
	settings  []string // of conductors
}

// TestImport: the nodes of Debian's Ironic behind Debian's Keystone, with their secrets in Debian's MariaDB.
func TestImport(t *testing.T) {
	suitetest.Need(t, "import-test")
	began := time.Now()
	k, err := openstack.StartKeystone(t.Context(), openstack.Here, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer ends(t, k)
	admin, err := k.Admin(t.Context())
	if err == nil {
		_, err = k.Grant(t.Context(), admin, "ironic", "service-password", "service", "service")
	}
	if err != nil {
		t.Fatal(err)
	}
	password := filepath.Join(t.TempDir(), "password")
	write(t, password, "service-password\n")
	m := &importers{keystone: k, settings: []string{"--auth", "keystone", "--keystone-url", k.URL,
		"--keystone-password-file", password, "--keystone-cache", "0s"}}
	for name, value := range map[string]string{"OS_AUTH_URL": k.URL, "OS_USERNAME": "admin",
		"OS_PASSWORD": openstack.AdminPassword, "OS_PROJECT_NAME": "admin"} {
		t.Setenv(name, value)
	}
	certs := t.TempDir()
	authority := certtest.New(t)
	chain, key := authority.Server("localhost")
	cert, keyFile := certtest.Write(t, certs, chain, key)
	write(t, filepath.Join(certs, "ca.pem"), string(authority.PEM()))
	db, err := openstack.StartMariaDB(t.Context(), openstack.Here, t.TempDir(), "--ssl-cert="+cert,
		"--ssl-key="+keyFile)
	if err != nil {
		t.Fatal(err)
	}
	defer ends(t, db)
	where, err := db.Database(t.Context(), "ironic", "ironic", databasePassword)
	if err != nil {
		t.Fatal(err)
	}
	i, err := openstack.StartIronic(t.Context(), openstack.Here, t.TempDir(), k, where)
	if err != nil {
		t.Fatal(err)
	}
	defer ends(t, i)
	fill(t, i, k)
	t.Run("mariadb", func(t *testing.T) { m.fromMariaDB(t, i, db, where, filepath.Join(certs, "ca.pem")) })
	t.Run("postgresql", func(t *testing.T) { m.fromPostgreSQL(t) })
	t.Run("tokens", func(t *testing.T) { m.tokens(t, i, where) })
	t.Run("together", func(t *testing.T) { m.together(t, i, where) })
	t.Run("both", func(t *testing.T) { m.both(t, i, where) })
	fmt.Printf("import-test: ok %.1f s\n", time.Since(began).Seconds())
}

func ends(t *testing.T, s interface{ Stop() error }) {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fill gives an Ironic three nodes: active, enroll with a password, and in the middle of a deploy.
func fill(t *testing.T, i *openstack.Ironic, k *openstack.Keystone) {
	t.Helper()
	image := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("an image"))
	}))
	defer image.Close()
	c := &servetest.Conductor{URL: i.URL, Sign: func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json") // Ironic reads no other
		if k != nil {
			r.Header.Set("X-Auth-Token", tokenOf(t, k, "admin", openstack.AdminPassword, "admin"))
		}
	}}
	fakes := map[string]any{"driver": "fake-hardware", "boot_interface": "fake", "management_interface": "fake",
		"power_interface": "fake", "network_interface": "noop", "storage_interface": "noop"}
	node := func(name, deploy, info string, more map[string]any) {
		body := map[string]any{"name": name, "deploy_interface": deploy, "driver_info": json.RawMessage(info)}
		for key, value := range fakes {
			body[key] = value
		}
		for key, value := range more {
			body[key] = value
		}
		c.Call(t, http.MethodPost, "/v1/nodes", body, http.StatusCreated)
	}
	move := func(name, verb, state string) {
		c.Call(t, http.MethodPut, "/v1/nodes/"+name+"/states/provision", map[string]any{"target": verb}, http.StatusAccepted)
		if state != "wait call-back" {
			c.Until(t, name, state)
			return
		}
		for end := time.Now().Add(servetest.Patience); ; time.Sleep(100 * time.Millisecond) {
			n := c.Call(t, http.MethodGet, "/v1/nodes/"+name, nil, http.StatusOK)
			if n["provision_state"] == state {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s is %v (%v), expected %s", name, n["provision_state"], n["last_error"], state)
			}
		}
	}
	const secret = `{"fake_password": "lion\\ \"ü\"", "deploy_kernel": "file:///k", "deploy_ramdisk": "file:///r"}`
	instance := map[string]any{"instance_info": map[string]any{"image_source": image.URL + "/a.qcow2",
		"image_checksum": "f1d4bd7a7b8e4e6f1a1f0ad0f6e0a8d1", "root_gb": 10}}
	node("active", "fake", secret, instance)
	node("deploying", "direct", secret, instance)
	node("enroll", "direct", `{"ipmi_address": "192.0.2.7", "ipmi_username": "admin", "ipmi_password": "calvin"}`,
		map[string]any{"driver": "ipmi", "boot_interface": "ipxe", "management_interface": "ipmitool",
			"power_interface": "ipmitool"})
	for _, name := range []string{"active", "deploying"} {
		move(name, "manage", "manageable")
		move(name, "provide", "available")
	}
	owner := c.Call(t, http.MethodGet, "/v1/nodes/active", nil, http.StatusOK)["uuid"]
	c.Call(t, http.MethodPost, "/v1/ports", map[string]any{"node_uuid": owner, "address": "52:54:00:00:00:01"},
		http.StatusCreated)
	c.Call(t, http.MethodPost, "/v1/volume/targets", map[string]any{"node_uuid": owner, "volume_type": "iscsi",
		"boot_index": 0, "volume_id": "v", "properties": map[string]any{"auth_password": "words"}}, http.StatusCreated)
	move("active", "active", "active")
	move("deploying", "active", "wait call-back")
}

// serves starts a conductor for one subtest.
func (m *importers) serves(t *testing.T, settings ...string) {
	t.Helper()
	c := servetest.Start(t, serve.Command(), filepath.Join(t.TempDir(), "data"), settings...)
	c.Sign = func(r *http.Request) { r.Header.Set("X-Auth-Token", m.token(t)) }
	t.Cleanup(func() { c.End(t) })
	m.conductor = c
}

// token is one for the conductor.
func (m *importers) token(t *testing.T) string {
	t.Helper()
	return tokenOf(t, m.keystone, "admin", openstack.AdminPassword, "admin")
}

// runs runs `ferrite import ironic`, which is to say all of the words; its passwords are never shown.
func (m *importers) runs(t *testing.T, from string, args []string, words ...string) string {
	t.Helper()
	t.Setenv("FERRITE_TOKEN", m.token(t))
	return m.runsAs(t, from, args, words...)
}

func (m *importers) runsAs(t *testing.T, from string, args []string, words ...string) string {
	t.Helper()
	var said bytes.Buffer
	cmd := cli.New("test")
	cmd.SetOut(&said)
	cmd.SetErr(&said)
	cmd.SetArgs(append([]string{"import", "ironic", from, "--url", m.conductor.URL, "--request-timeout", "2m"}, args...))
	code := cli.Run(context.WithoutCancel(t.Context()), cmd)
	for _, word := range words {
		if !strings.Contains(said.String(), word) {
			t.Errorf("%v: exit %d, without %q:\n%s", args, code, word, &said)
		}
	}
	for _, hidden := range []string{databasePassword, url.PathEscape(databasePassword), "calvin", "lion", "words"} {
		if strings.Contains(said.String(), hidden) {
			t.Errorf("%v shows %s:\n%s", args, hidden, &said)
		}
	}
	return said.String()
}

// all is the last line of an import of all nodes except the node that is being deployed.
const all = "2 created, 0 changed, 0 unchanged; not imported: 0 conflicts, 0 refused, 1 left out"

// again is the same after it.
const again = "0 created, 0 changed, 2 unchanged; not imported: 0 conflicts, 0 refused, 1 left out"
