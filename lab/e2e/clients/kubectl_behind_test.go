//go:build e2e

package clients

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
)

// kubectlKnows answers the condition [waits-by-jsonpath]: kubectl does from 1.23 on.
func kubectlKnows(cond string) (bool, error) {
	if cond != "waits-by-jsonpath" {
		return false, fmt.Errorf("unknown condition %s", cond)
	}
	help, err := exec.Command(kubectlPath(), "wait", "--help").Output()
	return bytes.Contains(help, []byte("--for=jsonpath")), err
}

// halt is the command "halt NAME": a follower reads nothing any more; with "!" it
// goes on.
func halt(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] halt NAME")
	}
	signal := syscall.SIGSTOP
	if neg {
		signal = syscall.SIGCONT
	}
	ts.Check(syscall.Kill(-followers(ts)[args[0]].cmd.Process.Pid, signal))
}

// churn is the command "churn NAMESPACE/NAME". It changes a host until the earlier changes are no longer kept for
// watches, not even the changes that wait in sockets (some five megabytes).
func churn(ts *testscript.TestScript, neg bool, args []string) {
	c, ok := ts.Value("conductor").(*servetest.Conductor)
	if !ok || neg || len(args) != 1 {
		ts.Fatalf("usage: churn NAMESPACE/NAME")
	}
	const kept, sockets, each = 16 << 20, 8 << 20, 200_000
	namespace, name, _ := strings.Cut(args[0], "/")
	for i := range (kept + sockets) / each {
		text := fmt.Sprintf(`{"metadata":{"annotations":{"filler":%q}}}`, strings.Repeat(string(rune('a'+i%26)), each))
		r, err := http.NewRequest(http.MethodPatch, c.URL+"/apis/metal3.io/v1alpha1/namespaces/"+namespace+"/baremetalhosts/"+
			name, strings.NewReader(text))
		ts.Check(err)
		r.Header.Set("Content-Type", "application/merge-patch+json")
		res, err := http.DefaultClient.Do(r)
		ts.Check(err)
		ts.Check(res.Body.Close())
		if res.StatusCode != http.StatusOK {
			ts.Fatalf("a change is answered with %s", res.Status)
		}
	}
}
