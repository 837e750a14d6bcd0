package cli_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestRefused: a conductor refuses every verb in every wrong state. The command names the verb as typed, the node, its
// state and the next command, as in node/testdata/refused.txt.
func TestRefused(t *testing.T) {
	golden, err := os.ReadFile("node/testdata/refused.txt")
	if err != nil {
		t.Fatal(err)
	}
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	more := map[string][]string{"clean": {"--step", "power.reboot"}, "service": {"--step", "power.reboot"},
		"rescue": {"--password-file", password}}
	c := apitest.Start(t, mem.New(), nil)
	ferrite(t.Context(), c.URL, io.Discard, "node", "create", "--driver", "fake-hardware", "--name", "m1")
	texts := strings.SplitAfter(string(golden), "\n")
	for i, line := range texts {
		verb, state, ok := refusedIn(line)
		if !ok {
			continue
		}
		want := line
		if next := texts[i+1]; strings.HasPrefix(next, "  try:") {
			want += next
		}
		want = "ferrite: " + strings.ReplaceAll(want, "NODE", "m1")
		setState(t, c, node.State(state))
		got, status := ferrite(t.Context(), c.URL, io.Discard, append([]string{"node", verb, "m1"}, more[verb]...)...)
		if status == 0 || got != want {
			t.Errorf("%s in %s: status %d\n%swant\n%s", verb, state, status, got, want)
		}
	}
}

// refusedIn is the verb and the state of a line of the golden file.
func refusedIn(line string) (verb, state string, ok bool) {
	verb, rest, ok := strings.Cut(strings.TrimPrefix(line, "cannot "), " node NODE: it is in state ")
	for _, s := range nodeapi.ProvisionStates() {
		if strings.HasPrefix(rest, s) && len(s) > len(state) { // rescue is the beginning of rescue wait
			state = s
		}
	}
	return verb, state, ok
}

// setState puts a node into a state, as no verb could.
func setState(t *testing.T, c *apitest.Conductor, state node.State) {
	t.Helper()
	n, err := c.Engine.Node(t.Context(), "m1")
	if err != nil {
		t.Fatal(err)
	}
	n.ProvisionState, n.LastError = state, ""
	if _, err := c.Engine.Store.Commit(t.Context(), node.Change{Save: &n}); err != nil {
		t.Fatal(err)
	}
}
