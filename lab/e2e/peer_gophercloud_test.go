//go:build peers

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/lab/openstack"
)

// gophercloudModule has the acceptance tests in its zip, in the version that go.mod names.
const gophercloudModule = "github.com/gophercloud/gophercloud/v2"

// gophercloudAcceptance runs gophercloud's acceptance tests of bare metal with each kind of login, and returns the
// number of those that passed.
func gophercloudAcceptance(t *testing.T, k *openstack.Identity) (passed int) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", gophercloudModule).Output()
	if err != nil {
		t.Fatalf("the module %s: %v", gophercloudModule, err)
	}
	cloudConductor(t, k, "gophercloud")
	open := servetest.Start(t, serve.Command(), filepath.Join(t.TempDir(), "data"))
	defer open.End(t)
	guarded := servetest.StartGuarded(t, serve.Command(), false)
	for login, env := range map[string][]string{
		"v1": {"OS_AUTH_URL=" + k.URL, "OS_USERNAME=admin", "OS_PASSWORD=" + openstack.AdminPassword,
			"OS_PROJECT_NAME=admin", "OS_DOMAIN_NAME=Default", "OS_REGION_NAME=gophercloud"},
		"noauth":    {"IRONIC_ENDPOINT=" + open.URL + "/v1", "OS_USERNAME=anybody"},
		"httpbasic": {"IRONIC_ENDPOINT=" + guarded.URL + "/v1", "OS_USERNAME=alice", "OS_PASSWORD=wonderland"},
	} {
		cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-p", "1", "-tags", "acceptance",
			"./internal/acceptance/openstack/baremetal/"+login)
		cmd.Dir = strings.TrimSpace(string(dir))
		cmd.Env = append(os.Environ(), append(env, "OS_BRANCH=master")...)
		out, err := cmd.CombinedOutput()
		good := len(regexp.MustCompile(`(?m)^--- PASS: `).FindAll(out, -1))
		skipped := regexp.MustCompile(`(?m)^--- SKIP: .*`).FindAllString(string(out), -1)
		if err != nil || good == 0 || len(skipped) > 0 {
			t.Errorf("%s: %d passed, skipped %v: %v\n%s", login, good, skipped, err, out)
		}
		fmt.Printf("peer: gophercloud %s: %d passed\n", login, good)
		passed += good
	}
	return passed
}
