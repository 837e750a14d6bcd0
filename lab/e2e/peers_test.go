//go:build peers

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/lab/openstack"
	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

// TestPeers: the tests that others wrote for Ironic, against our conductor: tempest's tests of the API, gophercloud's
// acceptance tests, and a machine's life by Metal3's operator.
func TestPeers(t *testing.T) {
	suitetest.Need(t, "peer-test")
	k := openstack.StartIdentity(append(tempestAccounts(), peerAdmin, peerService)...)
	defer k.Stop()
	var tests, acceptance, parts int
	t.Run("tempest", func(t *testing.T) { tests = tempest(t, k) })
	t.Run("gophercloud", func(t *testing.T) { acceptance = gophercloudAcceptance(t, k) })
	t.Run("operator", func(t *testing.T) {
		program, err := buildOperator(t)
		if err != nil {
			t.Fatal(err)
		}
		o := &operator{program: program}
		run(t, profileLab, testCase{"operator", 40 * time.Minute, o.life})
		parts = o.passed
	})
	if !t.Failed() && tests > 0 && acceptance > 0 && parts > 0 {
		fmt.Printf("peer: ok tempest %d, gophercloud %d, operator %d\n", tests, acceptance, parts)
	}
}

// The accounts of an administrator, and of our conductor.
var (
	peerAdmin   = openstack.Account{User: "admin", Password: openstack.AdminPassword, Project: "admin", Role: "admin"}
	peerService = openstack.Account{User: "ironic", Password: "ironic-password", Project: "service", Role: "service"}
)

// cloudConductor starts a conductor with fake hardware that takes a Keystone's tokens, and is in its catalogue.
func cloudConductor(t *testing.T, k *openstack.Identity, region string) *servetest.Conductor {
	t.Helper()
	dir := t.TempDir()
	password := filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte(peerService.Password), 0o600); err != nil {
		t.Fatal(err)
	}
	c := servetest.Start(t, serve.Command(), filepath.Join(dir, "data"), "--auth", "keystone", "--keystone-url", k.URL,
		"--keystone-password-file", password)
	t.Cleanup(func() { c.End(t) })
	k.Endpoint("baremetal", region, c.URL)
	return c
}
