package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/kube"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// newKeeper keeps documents; only the test acts on them.
func newKeeper(tb testing.TB) *objects.Keeper {
	tb.Helper()
	keeper, err := objects.New(tb.Context(), objects.Config{Store: mem.New(), Key: bytes.Repeat([]byte{7}, 32)})
	if err != nil {
		tb.Fatal(err)
	}
	return keeper
}

// documentMounts serves documents beside the API.
func documentMounts(keeper *objects.Keeper) func(*engine.Engine) map[string]api.Handler {
	return func(*engine.Engine) map[string]api.Handler {
		return kube.New(kube.Options{Keeper: keeper, Log: slog.New(slog.DiscardHandler)}).Handlers()
	}
}

// becomes writes a host's new status, as the conductor does: "becomes HOST FILE" with the file's metadata and status in
// YAML. Missing fields stay. Finalizers are the file's, so that a deleted host can be let go.
func becomes(ts *testscript.TestScript, _ bool, args []string) {
	keeper, ok := ts.Value("keeper").(*objects.Keeper)
	if !ok || len(args) != 2 {
		ts.Fatalf("usage: becomes HOST FILE")
	}
	ts.Check(become(keeper, args[0], ts.ReadFile(args[1])))
}

// tells writes the conductor's status of a host's DataImage: "tells IMAGE FILE".
func tells(ts *testscript.TestScript, _ bool, args []string) {
	keeper, ok := ts.Value("keeper").(*objects.Keeper)
	if !ok || len(args) != 2 {
		ts.Fatalf("usage: tells IMAGE FILE")
	}
	i, err := objects.Get[hostapi.DataImage](context.Background(), keeper, hostapi.DefaultNamespace, args[0])
	ts.Check(err)
	said, err := yaml.YAMLToJSON([]byte(ts.ReadFile(args[1])))
	ts.Check(err)
	ts.Check(json.Unmarshal(said, &i))
	_, err = objects.Save(context.Background(), keeper, i)
	ts.Check(err)
}

func become(keeper *objects.Keeper, name, text string) error {
	ctx := context.Background()
	h, err := objects.Get[hostapi.Host](ctx, keeper, hostapi.DefaultNamespace, name)
	if err != nil {
		return err
	}
	said, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	h.Finalizers = nil
	if err := json.Unmarshal(said, &h); err != nil {
		return err
	}
	_, err = objects.Save(ctx, keeper, h)
	return err
}

// looked is a conductor with one host, which changes at each request for it.
type looked struct {
	*httptest.Server
	keeper *objects.Keeper

	mu   sync.Mutex
	next []string // its next states, in YAML; "" for no change
}

const hostPath = "/apis/metal3.io/v1alpha1/namespaces/default/baremetalhosts/worker-0"

// nodeStatus is the status of the node behind it.
const nodeStatus = `{"node": "11111111-2222-4333-8444-555555555555", "state": "deploying", "activity": "deploy", "step": "deploy.write_image", "steps": ["deploy.write_image"], "waiting_for": "the agent"}`

func newLooked(t *testing.T, next ...string) *looked {
	l := &looked{keeper: newKeeper(t), next: next}
	handlers := documentMounts(l.keeper)(nil)
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		top := "/" + strings.SplitN(r.URL.Path, "/", 3)[1]
		switch {
		case top == "/ferrite" && strings.Contains(r.URL.Path, "11111111-"): // before, the host has no node
			fmt.Fprint(w, nodeStatus)
		case handlers[top] == nil:
			http.NotFound(w, r)
		default:
			if r.Method == http.MethodGet && r.URL.Path == hostPath {
				l.look(t)
			}
			if err := handlers[top](w, r); err != nil {
				t.Error(err)
			}
		}
	}))
	t.Cleanup(l.Close)
	return l
}

// look moves the host to its next state.
func (l *looked) look(t *testing.T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.next) == 0 {
		return
	}
	text := l.next[0]
	l.next = l.next[1:]
	if text == "" {
		return
	}
	if err := become(l.keeper, "worker-0", text); err != nil {
		t.Error(err)
	}
}

// ferrite runs a command on a conductor.
func ferrite(ctx context.Context, url string, out io.Writer, args ...string) (stderr string, code int) {
	cmd := cli.New("1.2.3-test")
	var e bytes.Buffer
	cmd.SetOut(out)
	cmd.SetErr(&e)
	cmd.SetArgs(append(args, "--url", url))
	code = cli.Run(ctx, cmd)
	return e.String(), code
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "host.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// hostFile is a host with an image.
func hostFile(image string) string {
	return `
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: worker-0}
spec:
  bmc: {address: "redfish://10.0.0.1/redfish/v1/Systems/1", credentialsName: bmc-0}
  image: {url: "http://images/` + image + `", checksum: "http://images/sums", checksumType: sha256}
  online: true
`
}
