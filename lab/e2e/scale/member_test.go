//go:build e2e

package scale

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/lab/e2e/conductortest"
)

// patience bounds all waits: the machine may have much else to do.
const patience = conductortest.Patience

// member is a conductor in a process of its own.
type member struct {
	*conductortest.Process
	dir string
}

func newMember(t *testing.T, nth int, database, key string, more []string) *member {
	t.Helper()
	name := string(rune('a' + nth))
	m := &member{dir: t.TempDir()}
	m.Process = &conductortest.Process{T: t, Name: name, Address: fmt.Sprintf("127.0.0.1:%d", 16385+nth),
		Log: filepath.Join(m.dir, "log"), Profile: filepath.Join(m.dir, "profile")}
	m.Args = append([]string{
		"--database", database, "--cluster-key-file", key, "--host", name, "--data-dir", m.data(),
		"--api-address", fmt.Sprintf("0.0.0.0:%d", 16385+nth),
		"--cluster-address", fmt.Sprintf("127.0.0.1:%d", 16485+nth), "--auth", "none",
		"--allow-anybody", "--hardware-types", "redfish", "--bmc-allow", "127.0.0.0/8", "--agent-allow", "127.0.0.0/8",
		"--agent-require-tls=false", "--fast-track-idle", "0", "--log-level", "warn",
	}, more...)
	return m
}

func (m *member) data() string { return filepath.Join(m.dir, "data") }
func (m *member) url() string  { return "http://" + m.Address }

// call makes one request, and reads its answer.
func (m *member) call(client *http.Client, method, path string, body, answer any) (status int, err error) {
	return call(client, method, m.url()+path, body, answer)
}

func call(client *http.Client, method, url string, body, answer any) (status int, err error) {
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		sent = strings.NewReader(string(raw))
	}
	q, err := http.NewRequest(method, url, sent)
	if err != nil {
		return 0, err
	}
	q.Header.Set("X-OpenStack-Ironic-API-Version", "latest")
	q.Header.Set("Content-Type", "application/json")
	a, err := client.Do(q)
	if err != nil {
		return 0, err
	}
	text, err := io.ReadAll(a.Body)
	if err = errors.Join(err, a.Body.Close()); err != nil {
		return 0, err
	}
	if a.StatusCode/100 != 2 {
		return a.StatusCode, fmt.Errorf("%s %s answers %d: %.300s", method, url, a.StatusCode, text)
	}
	if answer != nil {
		err = json.Unmarshal(text, answer)
	}
	return a.StatusCode, err
}
