//go:build cluster

package history

import (
	"net/url"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/lab/e2e/conductortest"
)

// patience bounds all waits: the machine may have much else to do.
const patience = conductortest.Patience

// member is a conductor in a process of its own.
type member struct {
	*conductortest.Process
	role    string // its user of the database
	network *network
	reached string // its address for other conductors; no other process uses it
}

// newMember makes a conductor, which is not started yet.
func newMember(t *testing.T, name, database, key string) *member {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	m := &member{role: "member_" + name}
	m.reached = "127.0.10." + strconv.Itoa(int(name[0]))
	m.network, u = newNetwork(t, u)
	u.User = url.User(m.role)
	address := "127.0.0.1:" + servetest.FreePort(t)
	m.Process = &conductortest.Process{T: t, Name: name, Address: address, Log: filepath.Join(t.TempDir(), name+".log")}
	m.Args = []string{
		"--database", u.String(), "--cluster-key-file", key, "--host", name, "--data-dir", filepath.Join(t.TempDir(), name),
		"--api-address", address, "--auth", "none", "--boot=false", "--hardware-types", "fake-hardware,redfish",
		"--bmc-allow", "127.0.0.0/8", "--registry-allow", "127.0.0.0/8", "--agent-allow", "127.0.0.0/8",
		"--sync-power-state-interval", "10s", "--agent-require-tls=false", "--cluster-address", m.reached + ":6386",
	}
	return m
}
