package cli_test

import (
	"bufio"
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

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/host/kube"
	"github.com/ferrite-metal/ferrite/conductor/host/objects"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// newKeeper keeps documents; nobody acts on them but the test.
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

// becomes writes what a host has become, as the conductor does: "becomes HOST FILE"
// with the file's metadata and status in YAML. What is not said stays; finalizers
// are the file's, so that a deleted host can be let go.
func becomes(ts *testscript.TestScript, _ bool, args []string) {
	keeper, ok := ts.Value("keeper").(*objects.Keeper)
	if !ok || len(args) != 2 {
		ts.Fatalf("usage: becomes HOST FILE")
	}
	ts.Check(become(keeper, args[0], ts.ReadFile(args[1])))
}

// tells writes what the conductor says of a host's DataImage: "tells IMAGE FILE".
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

// looked is a conductor whose one host becomes something each time somebody looks
// at it.
type looked struct {
	*httptest.Server
	keeper *objects.Keeper

	mu   sync.Mutex
	next []string // what it becomes, in YAML; "" is nothing new
}

const hostPath = "/apis/metal3.io/v1alpha1/namespaces/default/baremetalhosts/worker-0"

// nodeStatus is that of the node behind it.
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

// look makes the host what it becomes next.
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

// TestWait follows a host through its life, as somebody who has just applied it.
func TestWait(t *testing.T) {
	const (
		broken      = `{metadata: {generation: 1}, status: {operationalStatus: error, errorType: registration error, errorMessage: no route to host, errorCount: 1, triedCredentials: {credentials: {name: bmc-0}}, provisioning: {state: registering}}}`
		brokenAgain = `{status: {operationalStatus: error, errorType: registration error, errorMessage: no route to host, errorCount: 2, provisioning: {state: registering}}}`
		registering = `{status: {operationalStatus: OK, errorType: "", errorMessage: "", provisioning: {state: registering}}}`
		delayed     = `{status: {operationalStatus: delayed, provisioning: {state: available}}}`
		writing     = `{status: {operationalStatus: OK, provisioning: {state: provisioning, ID: 11111111-2222-4333-8444-555555555555}}}`
		old         = `{status: {operationalStatus: OK, poweredOn: true, provisioning: {state: provisioned, image: {url: "http://images/old"}}}}`
		unseen      = `{status: {operationalStatus: OK, poweredOn: true, provisioning: {state: provisioned, image: {url: "http://images/new"}}, conditions: [{type: Ready, status: "True", observedGeneration: 1, reason: Provisioned, message: "", lastTransitionTime: null}]}}`
		done        = `{status: {operationalStatus: OK, poweredOn: true, provisioning: {state: provisioned, image: {url: "http://images/new"}}, conditions: [{type: Ready, status: "True", observedGeneration: 2, reason: Provisioned, message: "", lastTransitionTime: null}]}}`
		detached    = `{metadata: {annotations: {baremetalhost.metal3.io/detached: ""}}, status: {operationalStatus: detached, poweredOn: true, provisioning: {state: provisioned, image: {url: "http://images/new"}}}}`
	)
	for _, c := range []struct {
		name string
		next []string // the first is what it was before the apply
		code int
		told []string
		err  string
	}{
		{"all the way", []string{"", registering, delayed, writing, done}, 0,
			[]string{"is to be provisioned", "registering", "available, delayed: as many other hosts are at work as may be", "provisioning", "deploying: deploy.write_image (1 of 1), waits for the agent", "provisioned", "worker-0 is provisioned"}, ""},
		{"the image that was there does not count", []string{old, old, old, registering, done}, 0,
			[]string{"is to be provisioned", "provisioned", "registering", "provisioned", "worker-0 is provisioned"}, ""},
		{"a document that was not seen yet does not count", []string{"", unseen, unseen, done}, 0,
			[]string{"is to be provisioned", "provisioned", "worker-0 is provisioned"}, ""},
		{"an error from before does not count", []string{broken, "", "", registering, done}, 0,
			[]string{"is to be provisioned", "registering, registration error: no route to host", "registering", "provisioned", "worker-0 is provisioned"}, ""},
		{"an error that comes again does", []string{broken, "", brokenAgain}, 1,
			[]string{"is to be provisioned", "registering, registration error: no route to host"}, "host worker-0: registration error: no route to host\n  try: see that spec.bmc.address redfish://10.0.0.1/redfish/v1/Systems/1 is right"},
		{"a detached host stays what it is", []string{"", detached}, 1,
			[]string{"is to be provisioned", "provisioned, detached"}, "it is detached, and provisioned"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLooked(t)
			if _, code := ferrite(t.Context(), l.URL, io.Discard, "apply", "-f", writeFile(t, hostFile("old"))); code != 0 {
				t.Fatal("the host was not applied")
			}
			l.next = c.next
			var out bytes.Buffer
			stderr, code := ferrite(t.Context(), l.URL, &out, "apply", "--wait", "-f", writeFile(t, hostFile("new")))
			var told []string
			for line := range strings.Lines(out.String()) {
				if _, text, ok := strings.Cut(line, " s  "); ok {
					told = append(told, strings.TrimSuffix(text, "\n"))
				}
			}
			if d := cmp.Diff(c.told, told); d != "" || code != c.code || !strings.Contains(stderr, c.err) {
				t.Errorf("exit %d, want %d; told (-want +got):\n%s\n%s%s", code, c.code, d, out.String(), stderr)
			}
		})
	}
}

// TestApplyTakesOver: what a document has that nobody has applied stays, and is
// told of; a memory that makes no sense is refused.
func TestApplyTakesOver(t *testing.T) {
	l := newLooked(t)
	made := hostapi.Host{ObjectMeta: hostapi.ObjectMeta{Name: "worker-0", Namespace: "default"}, Spec: hostapi.HostSpec{Description: "made by hand"}}
	made, err := objects.Create(t.Context(), l.keeper, made)
	if err != nil {
		t.Fatal(err)
	}
	file := writeFile(t, hostFile("new"))
	var out bytes.Buffer
	stderr, code := ferrite(t.Context(), l.URL, &out, "apply", "-f", file)
	if code != 0 || !strings.Contains(stderr, "(BareMetalHost worker-0): it was not made by apply") || !strings.HasSuffix(out.String(), "/worker-0 configured\n") {
		t.Errorf("exit %d:\n%s%s", code, out.String(), stderr)
	}
	after, err := objects.Get[hostapi.Host](t.Context(), l.keeper, "default", "worker-0")
	if err != nil || after.Spec.Description != made.Spec.Description || !after.Spec.Online {
		t.Errorf("the host has become %+v: %v", after.Spec, err)
	}
	after.Annotations["kubectl.kubernetes.io/last-applied-configuration"] = "{"
	if _, err := objects.Update(t.Context(), l.keeper, after); err != nil {
		t.Fatal(err)
	}
	stderr, code = ferrite(t.Context(), l.URL, io.Discard, "apply", "-f", file)
	if code != 1 || !strings.Contains(stderr, "remove the annotation") {
		t.Errorf("exit %d:\n%s", code, stderr)
	}
}

// TestDeleteWaits: a host that is held is followed until it is let go.
func TestDeleteWaits(t *testing.T) {
	const held = `{metadata: {finalizers: [baremetalhost.metal3.io]}, status: {operationalStatus: OK, provisioning: {state: "powering off before delete"}}}`
	l := newLooked(t)
	if _, code := ferrite(t.Context(), l.URL, io.Discard, "apply", "-f", writeFile(t, hostFile("old"))); code != 0 {
		t.Fatal("the host was not applied")
	}
	if err := become(l.keeper, "worker-0", held); err != nil {
		t.Fatal(err)
	}
	l.next = []string{held, `{metadata: {finalizers: []}}`}
	var out bytes.Buffer
	stderr, code := ferrite(t.Context(), l.URL, &out, "delete", "host", "worker-0")
	for _, want := range []string{"is being deleted; it is held by its finalizer baremetalhost.metal3.io", " s  powering off before delete\n", " s  deleted\n"} {
		if code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("exit %d, want %q in:\n%s%s", code, want, out.String(), stderr)
		}
	}
}

// watched is a server with a list and a script of watches, one for each time that
// somebody watches.
type watched struct {
	t       *testing.T
	mu      sync.Mutex
	lists   []string
	watches []func(w http.ResponseWriter, r *http.Request)
}

func (s *watched) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	var serve func(w http.ResponseWriter, r *http.Request)
	switch watch := r.URL.Query().Get("watch") == "true"; {
	case watch && len(s.watches) > 0:
		serve, s.watches = s.watches[0], s.watches[1:]
	case !watch && len(s.lists) > 0:
		text := s.lists[0]
		s.lists = s.lists[1:]
		serve = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	}
	s.mu.Unlock()
	if serve == nil {
		s.t.Errorf("nobody expected %s", r.URL)
		return
	}
	serve(w, r)
}

// from is a watch that must go on from a revision.
func (s *watched) from(revision string, events func(w http.ResponseWriter)) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		if got := r.URL.Query().Get("resourceVersion"); got != revision {
			s.t.Errorf("a watch goes on from %s, want %s", got, revision)
		}
		events(w)
	}
}

func send(w http.ResponseWriter, kind, object string) {
	fmt.Fprintf(w, `{"type":%q,"object":%s}`+"\n", kind, object)
	_ = http.NewResponseController(w).Flush()
}

func listOf(revision string, docs ...string) string {
	return fmt.Sprintf(`{"kind":"BareMetalHostList","metadata":{"resourceVersion":%q},"items":[%s]}`, revision, strings.Join(docs, ","))
}

func doc(name, revision string) string {
	return fmt.Sprintf(`{"kind":"BareMetalHost","metadata":{"name":%q,"namespace":"default","resourceVersion":%q}}`, name, revision)
}

const expired = `{"kind":"Status","status":"Failure","reason":"Expired","message":"too old resource version","code":410}`

// TestWatchGoesOn: connections that are lost, revisions that are too old and
// servers that are away for a while cost no change.
func TestWatchGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &watched{t: t, lists: []string{listOf("10", doc("a", "9")), listOf("20", doc("a", "11"), doc("b", "20")), listOf("21", doc("a", "11"), doc("b", "20"))}}
	s.watches = []func(http.ResponseWriter, *http.Request){
		s.from("10", func(w http.ResponseWriter) { send(w, "MODIFIED", doc("a", "11")); panic(http.ErrAbortHandler) }),
		s.from("11", func(w http.ResponseWriter) { send(w, "ERROR", expired) }),
		s.from("20", func(w http.ResponseWriter) { w.WriteHeader(http.StatusGone); fmt.Fprint(w, expired) }),
		s.from("21", func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }),
		s.from("21", func(w http.ResponseWriter) { send(w, "BOOKMARK", doc("", "30")) }), // its time is over
		s.from("30", func(w http.ResponseWriter) { send(w, "DELETED", doc("b", "31")); panic(http.ErrAbortHandler) }),
		s.from("31", func(http.ResponseWriter) { cancel() }),
	}
	srv := httptest.NewServer(s)
	defer srv.Close()
	var out bytes.Buffer
	stderr, code := ferrite(ctx, srv.URL, &out, "get", "hosts", "-w", "-o", "name")
	const want = "a\na\nb\nb\n"
	got := strings.ReplaceAll(out.String(), "baremetalhost.metal3.io/", "")
	if d := cmp.Diff(want, got); d != "" || code != 0 {
		t.Errorf("exit %d, shown (-want +got):\n%s\n%s", code, d, stderr)
	}
	if !strings.Contains(stderr, "the connection was lost") {
		t.Errorf("nothing was said of the connection:\n%s", stderr)
	}
}

// TestWatchEnds: what will never be better ends a watch.
func TestWatchEnds(t *testing.T) {
	s := &watched{t: t, lists: []string{listOf("10")}}
	s.watches = []func(http.ResponseWriter, *http.Request){s.from("10", func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","message":"bob may not"}`)
	})}
	srv := httptest.NewServer(s)
	defer srv.Close()
	if stderr, code := ferrite(t.Context(), srv.URL, io.Discard, "get", "hosts", "-w"); code != 1 || !strings.Contains(stderr, "ferrite: bob may not") {
		t.Errorf("exit %d:\n%s", code, stderr)
	}
}

// TestWatchRows: rows of the server's table come as they change.
func TestWatchRows(t *testing.T) {
	l := newLooked(t)
	if _, code := ferrite(t.Context(), l.URL, io.Discard, "apply", "-f", writeFile(t, hostFile("old"))); code != 0 {
		t.Fatal("the host was not applied")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	ended := make(chan int)
	go func() {
		_, code := ferrite(ctx, l.URL, w, "get", "hosts", "-w")
		w.Close()
		ended <- code
	}()
	lines := bufio.NewScanner(r)
	next := func() string {
		if !lines.Scan() {
			t.Fatal("the watch ended early")
		}
		return strings.Join(strings.Fields(lines.Text())[:3], " ")
	}
	got := []string{next(), next()}
	for _, state := range []string{"registering", "inspecting"} {
		if err := become(l.keeper, "worker-0", "{status: {operationalStatus: OK, provisioning: {state: "+state+"}}}"); err != nil {
			t.Fatal(err)
		}
		got = append(got, next())
	}
	cancel()
	if d := cmp.Diff([]string{"NAME STATE CONSUMER", "worker-0 true 0s", "worker-0 registering true", "worker-0 inspecting true"}, ageless(got)); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	if code := <-ended; code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
}

// ageless are rows that tell no age that depends on how fast we are.
func ageless(rows []string) []string {
	for i, r := range rows {
		if strings.HasPrefix(r, "worker-0 true ") {
			rows[i] = "worker-0 true 0s"
		}
	}
	return rows
}
