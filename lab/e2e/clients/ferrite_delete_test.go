package clients

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
)

const leaving = `
apiVersion: v1
kind: Secret
metadata: {name: bmc}
stringData: {username: admin, password: hunter2}
---
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: node-0}
spec: {online: true, inspectionMode: fast, bmc: {address: "fake://node-0", credentialsName: bmc}}
---
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: node-1}
spec: {online: true, inspectionMode: fast, bmc: {address: "fake://node-1", credentialsName: bmc}}
`

// TestFerriteDeletes: ferrite deletes at once the documents that it applied at once, also when the secret was deleted
// first, and nothing is left. The scripts of kubectl are in testdata/kubectl/leave.txt.
func TestFerriteDeletes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts.yaml")
	if err := os.WriteFile(file, []byte(leaving), 0o600); err != nil {
		t.Fatal(err)
	}
	c := servetest.Start(t, serve.Command(), filepath.Join(t.TempDir(), "data"))
	defer c.End(t)
	ferrite := func(want string, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		cmd := cli.New("test")
		cmd.SetOut(&out)
		cmd.SetErr(&errs)
		cmd.SetArgs(append(args, "--url", c.URL))
		if code := cli.Run(t.Context(), cmd); code != 0 || !strings.Contains(out.String(), want) {
			t.Fatalf("ferrite %v: exit %d, want %q in:\n%s%s", args, code, want, &out, &errs)
		}
		return out.String()
	}
	for _, first := range [][]string{nil, {"host", "delete", "secret", "bmc", "--wait=false"}} {
		ferrite("node-1 is available", "host", "apply", "-f", file, "--wait", "--timeout", "2m")
		if first != nil {
			ferrite("secret/bmc is being deleted; it is held by its finalizer baremetalhost.metal3.io/secret until no host "+
				"needs it any more", first...)
		}
		ferrite("", "host", "delete", "-f", file, "--ignore-not-found", "--timeout", "2m")
		for _, kind := range []string{"hosts", "secrets", "hardwaredata"} {
			if left := ferrite("", "host", "get", kind, "-o", "name"); left != "" {
				t.Errorf("there is left: %s", left)
			}
		}
	}
}
