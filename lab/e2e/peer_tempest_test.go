//go:build peers

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/lab/openstack"
)

// tempestLeast is the number of tests below which a run counts as none: Debian 12's plug-in (2.5.0) has 226.
const tempestLeast = 200

// tempestConf is tempest's configuration, of a folder, Keystone's URL and the admin's password.
const tempestConf = `[DEFAULT]
log_file = %[1]s/tempest.log
[oslo_concurrency]
lock_path = %[1]s/locks
[auth]
use_dynamic_credentials = false
test_accounts_file = %[1]s/accounts.yaml
admin_username = admin
admin_password = %[3]s
admin_project_name = admin
admin_domain_name = Default
[identity]
auth_version = v3
uri_v3 = %[2]s
region = RegionOne
v3_endpoint_type = public
[identity-feature-enabled]
api_v2 = false
[service_available]
ironic = true
cinder = false
glance = false
horizon = false
neutron = false
nova = false
swift = false
[enforce_scope]
ironic = true
[baremetal]
driver = fake-hardware
enabled_drivers = fake-hardware
enabled_hardware_types = fake-hardware
`

// tempestAccounts are accounts for two processes of tempest. A class of tests takes one account of a project and one of
// the system, or two of the system.
func tempestAccounts() (all []openstack.Account) {
	for i := range 6 {
		a := openstack.Account{User: fmt.Sprint("tempest-", i), Password: "tempest-password", Role: "admin"}
		if i >= 4 {
			a.Project = a.User
		}
		all = append(all, a)
	}
	return all
}

// accountsFile has the accounts in the form of tempest.
func accountsFile() string {
	var all strings.Builder
	for _, a := range tempestAccounts() {
		scope := "system: all"
		if a.Project != "" {
			scope = "project_name: " + a.Project + "\n  project_domain_name: Default"
		}
		fmt.Fprintf(&all, "- username: %s\n  password: %s\n  user_domain_name: Default\n  roles: [%s]\n  %s\n", a.User,
			a.Password, a.Role, scope)
	}
	return all.String()
}

// tempest runs the API tests of Debian's ironic-tempest-plugin, and returns the number of those that passed.
func tempest(t *testing.T, k *openstack.Identity) (passed int) {
	c := cloudConductor(t, k, "RegionOne")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "accounts.yaml"), []byte(accountsFile()), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "/usr/bin/tempest", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	work := filepath.Join(dir, "work")
	if out, err := command("init", work); err != nil {
		t.Fatalf("tempest init: %v\n%s", err, out)
	}
	conf := fmt.Sprintf(tempestConf, dir, k.URL, openstack.AdminPassword)
	if err := os.WriteFile(filepath.Join(work, "etc", "tempest.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	dir = work
	out, err := command("run", "--concurrency", "2", "--regex", `^ironic_tempest_plugin\.tests\.api\.`)
	counts := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^ - (\w[\w ]*): (\d+)`).FindAllStringSubmatch(out, -1) {
		counts[m[1]], _ = strconv.Atoi(m[2])
	}
	passed = counts["Passed"]
	if err != nil || passed < tempestLeast || counts["Failed"]+counts["Unexpected Success"] > 0 {
		t.Fatalf("tempest: %v, %v\n%s\nthe conductor says:\n%s", counts, err, out, c.Log)
	}
	for _, skipped := range regexp.MustCompile(`(?m)^.*SKIPPED.*$`).FindAllString(out, -1) {
		fmt.Println("peer: tempest", skipped)
	}
	return passed
}
