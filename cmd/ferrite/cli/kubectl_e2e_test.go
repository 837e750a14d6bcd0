//go:build e2e

package cli_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestE2EKubectlInTurn runs testdata/kubectl/*.txt, in which kubectl and ferrite work
// on the same documents in turn. kubectl is Debian's, of its package
// kubernetes-client, unless KUBECTL names another that is to be tried.
func TestE2EKubectlInTurn(t *testing.T) {
	kubectl := cmp.Or(os.Getenv("KUBECTL"), "/usr/bin/kubectl")
	if _, err := os.Stat(kubectl); err != nil { // a skip would look like a pass
		t.Fatalf("kubectl is missing: install Debian's package kubernetes-client: %v", err)
	}
	testscript.Run(t, scripts("testdata/kubectl", func(env *testscript.Env) error {
		if err := setUp(env); err != nil {
			return err
		}
		bin := filepath.Join(env.WorkDir, "kubectl-bin")
		if err := os.Mkdir(bin, 0o755); err != nil {
			return err
		}
		if err := os.Symlink(kubectl, filepath.Join(bin, "kubectl")); err != nil {
			return err
		}
		config := fmt.Appendf(nil,
			`{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: c, context: {cluster: c}}], current-context: c}`, env.Getenv("FERRITE_URL"))
		env.Setenv("PATH", bin+":"+env.Getenv("PATH"))
		env.Setenv("HOME", env.WorkDir)
		env.Setenv("KUBECONFIG", filepath.Join(env.WorkDir, "kubeconfig"))
		return os.WriteFile(env.Getenv("KUBECONFIG"), config, 0o600)
	}))
}
