//go:build keystone

package clients

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/lab/openstack"
)

// fromMariaDB: the ways to log in to a MariaDB, the user with the fewest rights, and all statements that it sees.
func (m *importers) fromMariaDB(t *testing.T, i *openstack.Ironic, db *openstack.MariaDB, where, ca string) {
	m.serves(t, m.settings...)
	if err := db.Run(t.Context(), "CREATE USER reader@'127.0.0.1' IDENTIFIED BY 'few' REQUIRE SSL",
		"CREATE USER reader@localhost IDENTIFIED BY 'few'",
		"GRANT SELECT ON ironic.nodes TO reader@'127.0.0.1'", "GRANT SELECT ON ironic.volume_targets TO reader@'127.0.0.1'",
		"GRANT SELECT ON ironic.nodes TO reader@localhost"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "password")
	write(t, file, "few\n")
	_, port, _ := strings.Cut(db.Address, ":")
	least := "mysql://reader@" + db.Address + "/ironic"
	from := func(u string, more ...string) []string { return append([]string{"--ironic-database", u}, more...) }
	given := []string{"--ironic-database-password-file", file}

	m.runs(t, i.URL, nil, "masks driver_info/ipmi_password: set IRONIC_DATABASE, or give --secrets")
	for u, want := range map[string]string{
		"mysql://reader@" + db.Address + "/ironic?ssl_mode=DISABLED": "Access denied for user 'reader'@'127.0.0.1' (using " +
			"password: YES)\n  check the user",
		"mysql://reader@" + db.Address + "/other":                      "to database 'other'\n  the user needs SELECT on",
		"mysql://reader@" + db.Address + "/ironic?ssl_mode=VERIFY_CA":  "certificate signed by unknown authority",
		"mysql://reader@" + db.Address + "/ironic?ssl_ca=" + ca:        "certificate",
		"mysql://reader@" + db.Address + "/ironic?ssl_ca=" + file:      "expected a certificate in PEM, found none",
		"mysql://reader@/ironic?unix_socket=" + db.Socket:              "volume_targets: Error 1142",
		"mysql://reader@/ironic?unix_socket=" + db.Socket + "&color=x": "the option color is not known here",
	} {
		m.runs(t, i.URL, from(u, given...), want)
	}
	t.Setenv("IRONIC_DATABASE_PASSWORD", "wrong")
	m.runs(t, i.URL, from(least), "--ironic-database: mysql://reader@"+db.Address+"/ironic: ",
		"check the user, and its password")
	t.Setenv("IRONIC_DATABASE_PASSWORD", "")

	before, err := os.ReadFile(db.Log())
	if err != nil {
		t.Fatal(err)
	}
	m.runs(t, i.URL, from(least, append(given, "--dry-run")...), "would be imported", all)
	statements(t, db, len(before))
	t.Setenv("IRONIC_DATABASE", where)
	m.runs(t, i.URL, nil, all, "Ironic is at work on it (wait call-back)")
	m.runs(t, i.URL, nil, again)
	t.Setenv("IRONIC_DATABASE", "mysql://reader@localhost:"+port+"/ironic?ssl_ca="+ca)
	m.runs(t, i.URL, given, again)
	t.Setenv("IRONIC_DATABASE", "")
	other := filepath.Join(t.TempDir(), "secrets.yaml")
	write(t, other, "enroll: {ipmi_password: hobbes}\n")
	m.runs(t, i.URL, []string{"--secrets", other}, "A secret differs") // so the stored secret is the database's
}

// statements has the MariaDB have seen nothing but reads, in one transaction that can only read.
func statements(t *testing.T, db *openstack.MariaDB, from int) {
	t.Helper()
	raw, err := os.ReadFile(db.Log())
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for line := range strings.Lines(string(raw[from:])) {
		if _, text, ok := strings.Cut(line, " Query\t"); ok {
			seen = append(seen, strings.TrimSpace(text))
		}
	}
	want := []string{"START TRANSACTION READ ONLY", "SELECT uuid, driver_info, instance_info FROM nodes",
		"SELECT uuid, properties FROM volume_targets", "ROLLBACK"}
	at := 0
	for _, s := range seen {
		if at < len(want) && s == want[at] {
			at++
		}
	}
	if at != len(want) {
		t.Errorf("the server has seen, without %q:\n%s", want[at:], strings.Join(seen, "\n"))
	}
}

// fromPostgreSQL: an Ironic without Keystone, with PostgreSQL as its database.
func (m *importers) fromPostgreSQL(t *testing.T) {
	u, err := url.Parse(postgrestest.New(t).URL(t))
	if err != nil {
		t.Fatal(err)
	}
	where := "postgresql+psycopg2://postgres@/postgres?host=" + u.Query().Get("host")
	i, err := openstack.StartIronic(t.Context(), openstack.Here, t.TempDir(), nil, where)
	if err != nil {
		t.Fatal(err)
	}
	defer ends(t, i)
	fill(t, i, nil)
	m.serves(t, m.settings...)
	m.runs(t, i.URL, []string{"--ironic-database", where}, all)
	m.runs(t, i.URL, []string{"--ironic-database", where}, again)
	m.runs(t, i.URL, []string{"--ironic-database", strings.Replace(where, "/postgres?", "/other?", 1)},
		`database "other" does not exist`, "ironic.conf has its name")
	m.runs(t, i.URL, []string{"--ironic-database", where + "&options=-csearch_path%3Dpg_catalog"},
		"not the database of an Ironic")
}

// before is a server before another one: do sees each request first.
func before(t *testing.T, address string, do func(*http.Request)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(u)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		do(r)
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// tokens: those that end in the middle of an import, at Ironic and at the conductor.
func (m *importers) tokens(t *testing.T, i *openstack.Ironic, where string) {
	t.Setenv("IRONIC_DATABASE", where)
	admin, err := m.keystone.Admin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	revoke := func(r *http.Request) {
		if err := tokens.Revoke(context.WithoutCancel(t.Context()), admin, r.Header.Get("X-Auth-Token")).Err; err != nil {
			t.Error(err)
		}
	}
	m.serves(t) // for the first three: without a login
	m.runs(t, before(t, i.URL, nth(1, "/v1/ports", revoke)), []string{"--dry-run"}, all)
	t.Run("not renewed", func(t *testing.T) {
		t.Setenv("OS_USERNAME", "")
		t.Setenv("OS_TOKEN", m.token(t))
		m.runs(t, before(t, i.URL, nth(1, "/v1/ports", revoke)), nil, "nothing was imported: the list of ports", "401",
			"log in to Ironic with OS_AUTH_URL")
		m.nodes(t)
	})
	m.serves(t, m.settings...)
	direct := m.conductor.URL
	m.conductor.URL = before(t, direct, nth(2, "/ferrite/v1/import", revoke))
	m.runs(t, i.URL, nil, "1 created, 0 changed, 0 unchanged; not imported: 0 conflicts, 1 refused, 1 left out")
	m.conductor.URL = direct
	m.nodes(t, "active")
	m.runs(t, i.URL, nil, "1 created, 0 changed, 1 unchanged; not imported: 0 conflicts, 0 refused, 1 left out")
	m.nodes(t, "active", "enroll")

	short := fmt.Sprintf("expiration = %d", int(lifetime.Seconds()))
	if err := m.keystone.Restart(t.Context(), "[token]", short); err != nil {
		t.Fatal(err)
	}
	m.serves(t)
	m.runs(t, before(t, i.URL, nth(1, "/v1/ports", func(*http.Request) { time.Sleep(lifetime + time.Second) })), nil, all)
	if err := m.keystone.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// nth does something for one request of those to a path.
func nth(n int32, path string, do func(*http.Request)) func(*http.Request) {
	var seen atomic.Int32
	return func(r *http.Request) {
		if strings.HasPrefix(r.URL.Path, path) && seen.Add(1) == n {
			do(r)
		}
	}
}

// nodes has the conductor have these nodes, and no others.
func (m *importers) nodes(t *testing.T, want ...string) {
	t.Helper()
	answer := m.conductor.Call(t, http.MethodGet, "/v1/nodes", nil, http.StatusOK)
	var got []string
	all, _ := answer["nodes"].([]any)
	for _, one := range all {
		n, _ := one.(map[string]any)
		got = append(got, fmt.Sprint(n["name"]))
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the conductor has %v, expected %v", got, want)
	}
}

// together: two imports at once, and nodes that are here already.
func (m *importers) together(t *testing.T, i *openstack.Ironic, where string) {
	t.Setenv("IRONIC_DATABASE", where)
	m.serves(t, m.settings...)
	t.Setenv("FERRITE_TOKEN", m.token(t))
	said := make([]string, 2)
	var both sync.WaitGroup
	for n := range said {
		both.Go(func() { said[n] = m.runsAs(t, i.URL, nil, "0 conflicts, 0 refused, 1 left out") })
	}
	both.Wait()
	created := 0
	for _, s := range said {
		for n := range 3 {
			if strings.Contains(s, fmt.Sprintf(": %d created, 0 changed, %d unchanged", n, 2-n)) {
				created += n
			}
		}
	}
	if created != 2 {
		t.Errorf("%d nodes were created, expected 2:\n%s", created, strings.Join(said, "\n"))
	}
	m.nodes(t, "active", "enroll")
}

// both: nodes that were made here before, one with the UUID that it has there, and one with its name alone.
func (m *importers) both(t *testing.T, i *openstack.Ironic, where string) {
	t.Setenv("IRONIC_DATABASE", where)
	m.serves(t, m.settings...)
	there := (&servetest.Conductor{URL: i.URL, Sign: m.conductor.Sign}).Call(t, http.MethodGet, "/v1/nodes/enroll", nil,
		http.StatusOK)
	m.conductor.Call(t, http.MethodPost, "/v1/nodes", map[string]any{"uuid": there["uuid"], "name": "enroll",
		"driver": "ipmi", "driver_info": map[string]any{"ipmi_address": "192.0.2.8"}, "description": "made here"},
		http.StatusCreated)
	m.conductor.Call(t, http.MethodPost, "/v1/nodes", map[string]any{"name": "active", "driver": "fake-hardware"},
		http.StatusCreated)
	m.runs(t, i.URL, nil, "0 created, 0 changed, 0 unchanged; not imported: 1 conflicts, 1 refused, 1 left out",
		"A node with name active already exists", `conflict: description: "made here" -> none`)
	m.conductor.Call(t, http.MethodDelete, "/v1/nodes/active", nil, http.StatusNoContent)
	m.runs(t, i.URL, []string{"--overwrite"},
		"1 created, 1 changed, 0 unchanged; not imported: 0 conflicts, 0 refused, 1 left out")
	m.runs(t, i.URL, nil, again)
}
