package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// TestContractOnPostgres: a node of fake hardware goes through its life, while the conductor and the server are ended
// and started again.
func TestContractOnPostgres(t *testing.T) {
	t.Parallel()
	server := postgrestest.New(t)
	dir, address := filepath.Join(t.TempDir(), "data"), server.URL(t)
	c := start(t, dir, "--database", address)
	n := c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "n1",
		"driver_info": map[string]any{"redfish_password": "planted-word"}}, 201)
	id := fmt.Sprint(n["uuid"])
	to := func(verb, state string) {
		t.Helper()
		c.Call(t, "PUT", "/v1/nodes/n1/states/provision", map[string]any{"target": verb}, 202)
		c.Until(t, id, state)
	}
	to("manage", "manageable")
	to("inspect", "manageable")
	if _, err := os.Stat(filepath.Join(dir, datafolder.DatabaseFile)); err == nil {
		t.Error("there is a SQLite database, too")
	}
	if _, err := command(t.Context(), "--data-dir", t.TempDir(), "--api-address", servetest.AnyPort, "--database",
		address); err == nil || !strings.Contains(err.Error(), "another conductor") {
		t.Errorf("a second conductor with another folder ended with %v", err)
	}
	checkReady(t, c, http.StatusOK)
	if err := server.Stop(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	checkReady(t, c, http.StatusServiceUnavailable)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	checkReady(t, c, http.StatusOK)
	to("provide", "available")
	c.End(t)
	for _, want := range []string{"the database cannot be reached", "the database can be reached again"} {
		if !strings.Contains(c.Log.String(), want) {
			t.Errorf("the log does not say %q", want)
		}
	}
	c = start(t, dir, "--database", address)
	defer c.End(t)
	if n := c.Until(t, "n1", "available"); n["uuid"] != id {
		t.Errorf("after a restart: %v", n)
	}
	to("active", "active")
	checkSealed(t, address)
}

// checkReady waits until /readyz answers a status.
func checkReady(t *testing.T, c *conductor, want int) {
	t.Helper()
	var status int
	var text []byte
	for end := time.Now().Add(servetest.Patience); status != want && time.Now().Before(end); {
		answer, err := http.Get(c.URL + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		status = answer.StatusCode
		if text, err = io.ReadAll(answer.Body); err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if status != want {
		t.Fatalf("/readyz answers %d %q, want %d", status, text, want)
	}
}

// checkSealed checks that no password is plain in the database.
func checkSealed(t *testing.T, address string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	var rows, plain int
	if err := conn.QueryRow(t.Context(), "SELECT count(*), count(*) FILTER (WHERE doc LIKE '%planted-word%') FROM nodes").
		Scan(&rows, &plain); err != nil || rows != 1 || plain != 0 {
		t.Errorf("%d rows, %d with a plain password, %v", rows, plain, err)
	}
}

// TestConductorSuperseded: a conductor ends when another one has taken its database.
func TestConductorSuperseded(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	c := start(t, filepath.Join(t.TempDir(), "data"), "--database", address)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), "UPDATE leader SET epoch = epoch + 1")
	if closing := conn.Close(t.Context()); err != nil || closing != nil {
		t.Fatal(err, closing)
	}
	select {
	case err := <-c.Ended:
		if err == nil || !strings.Contains(err.Error(), "another conductor has taken the database") {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(servetest.Patience):
		t.Fatal("it does not end")
	}
}

// TestRotateOnPostgres: the key is changed, and the conductor opens the values sealed by the new one.
func TestRotateOnPostgres(t *testing.T) {
	t.Parallel()
	dir, address := filepath.Join(t.TempDir(), "data"), postgrestest.URL(t)
	c := start(t, dir, "--database", address)
	c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "ipmi", "name": "n1",
		"driver_info": map[string]any{"ipmi_password": "planted-word"}}, 201)
	c.End(t)
	before, err := keys.Secrets(dir)
	if err != nil {
		t.Fatal(err)
	}
	rotate := SecretsCommand()
	rotate.SetArgs([]string{"rotate", "--data-dir", dir, "--database", address})
	rotate.SetOut(io.Discard)
	if err := rotate.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, err := keys.Secrets(dir)
	if err != nil || len(after) != 1 || string(after[0]) == string(before[0]) {
		t.Errorf("the key was not changed (%v)", err)
	}
	checkSealed(t, address)
	c = start(t, dir, "--database", address)
	c.Call(t, "GET", "/v1/nodes/n1", nil, 200)
	c.End(t)
	if err := os.Remove(filepath.Join(dir, keys.SecretsFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t.Context(), "--data-dir", dir, "--api-address", servetest.AnyPort, "--database",
		address); err == nil || !strings.Contains(err.Error(), "secrets-key.pem is missing") {
		t.Errorf("without its key it ended with %v", err)
	}
}

// TestDatabaseFlags: values that cannot be a database are refused, and no password is shown.
func TestDatabaseFlags(t *testing.T) {
	word := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(word, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := datafolder.ReadServer("postgres://ferrite@db.example/ferrite", word)
	want := datafolder.Server{URL: "postgres://ferrite@db.example/ferrite", Password: "from-file"}
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	nowhere := "postgres://ferrite:planted-word@/ferrite?" + url.Values{"host": {t.TempDir()}}.Encode()
	for want, args := range map[string][]string{
		"expected a URL as postgres://": {"--database", "mysql://ferrite:planted-word@db"},
		"of no use without --database":  {"--database-password-file", word},
		"no such file":                  {"--database", nowhere, "--database-password-file", word + "x"},
		"database postgres://ferrite@/": {"--database", nowhere},
	} {
		log, err := command(t.Context(), append(args, "--data-dir", t.TempDir(), "--api-address", servetest.AnyPort)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q ended with %v, want %q", args, err, want)
		}
		if strings.Contains(log+fmt.Sprint(err), "planted-word") {
			t.Errorf("%q shows the password: %v\n%s", args, err, log)
		}
	}
}
