package cli_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/crypto/bcrypt"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/user"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/bmc/console"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagelibrary/librarytest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"ferrite": func() { os.Exit(cli.Run(context.Background(), cli.New("1.2.3-test", user.Command()))) },
	})
}

// TestScripts runs testdata/*.txt, each against a conductor of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, scripts("testdata", setUp))
}

// scripts are the scripts of a folder.
func scripts(dir string, setup func(*testscript.Env) error) testscript.Params {
	return testscript.Params{
		Dir: dir, Setup: setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"break": breakBMC, "inspected": inspected,
			"erased": erased, "tamper": tamper, "uuidof": uuidOf, "becomes": becomes, "tells": tells, "exits": exits},
	}
}

// setUp starts the conductor of a script, and its neighbours.
func setUp(env *testscript.Env) error {
	tb, ok := env.T().(testing.TB)
	if !ok {
		return fmt.Errorf("%T is no testing.TB", env.T())
	}
	keeper := newKeeper(tb)
	c := apitest.Start(tb, mem.New(), documentMounts(keeper), func(o *api.Options) {
		o.Hosts = allHosts{}
		o.Consoles = newConsoles(tb)
		o.BootWatch = bootWatch{}
		o.Images = librarytest.New(tb, o.Conductor.Catalogs().Images)
	})
	if err := os.WriteFile(filepath.Join(env.WorkDir, "disk.raw"), make([]byte, 1<<10), 0o600); err != nil {
		return err
	}
	env.Setenv("FERRITE_URL", c.URL)
	env.Setenv("TZ", "UTC")
	env.Setenv("GORACE", "atexit_sleep_ms=0") // else each command sleeps a second under the race detector
	env.Values["conductor"], env.Values["test"], env.Values["keeper"] = c, tb, keeper
	old := httptest.NewServer(older(c.Config.Handler))
	env.Defer(old.Close)
	env.Setenv("OLDER_URL", old.URL)
	ancient := httptest.NewServer(http.HandlerFunc(ancient))
	env.Defer(ancient.Close)
	env.Setenv("ANCIENT_URL", ancient.URL)
	env.Setenv("IRONIC_URL", newRecordedIronic(tb).URL)
	for name, end := range endings {
		s := httptest.NewServer(ending(c.Config.Handler, end))
		env.Defer(s.Close)
		env.Setenv(name, s.URL)
	}
	if strings.HasSuffix(tb.Name(), "/export") {
		env.Setenv("OTHER_URL", apitest.Start(tb, mem.New(), nil).URL)
	}
	return guard(env, c.Config.Handler)
}

// newConsoles are consoles with a machine that greets a writer, unless another session has them.
func newConsoles(tb testing.TB) *console.Consoles {
	return console.New(tb.Context(), console.Config{Log: slog.New(slog.DiscardHandler),
		Open: func(_ context.Context, _ string, take bool) (io.ReadWriteCloser, error) {
			if !take {
				return nil, errors.New("serial over LAN is in use by another session")
			}
			ours, machine := net.Pipe()
			go func() {
				_, _ = io.WriteString(machine, "login: ")
				_, _ = io.Copy(machine, machine)
			}()
			return ours, nil
		}})
}

// bootWatch has seen two DHCP servers and three requests, and nothing follows.
type bootWatch struct{}

func (bootWatch) Servers() []nodeapi.BootServer { return nil }

func (bootWatch) Stream(ctx context.Context, q nodeapi.BootQuery, emit func([]nodeapi.BootLine) error) error {
	at := time.Date(2026, 11, 23, 23, 5, 1, 0, time.UTC)
	lines := []nodeapi.BootLine{
		{Server: &nodeapi.BootServer{Address: "10.77.0.2", Last: at, Lends: true}},
		{Server: &nodeapi.BootServer{Address: "10.77.0.3", Last: at, BootFile: "pxe.0", Expected: true}},
		{Lost: 3},
	}
	for i, e := range []nodeapi.BootEvent{
		{MAC: "52:54:00:77:00:99", Asked: "DISCOVER UEFI x64", Reason: "unknown-mac", Why: "unknown MAC", Times: 2,
			Try: "enrol it, or set --discovery"},
		{MAC: "52:54:00:77:00:01", Node: "11111111-2222-4333-8444-555555555555", NodeName: "web-1", IP: "10.77.0.100",
			Asked: "REQUEST UEFI x64", Answer: "ACK snponly.efi"},
		{Relay: "10.99.0.1", Asked: "packet\x1b[2J", Reason: "malformed", Why: "malformed", Try: "look at it with tcpdump"},
	} {
		e.ID, e.At = uint64(i+1), at.Add(time.Duration(i)*time.Second)
		if q.MAC == "" || q.MAC == e.MAC {
			lines = append(lines, nodeapi.BootLine{Event: &e})
		}
	}
	if err := emit(lines); err != nil || !q.Follow {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// allHosts has a host behind every node with a name of such a one, NAMESPACE~NAME.
type allHosts struct{}

func (allHosts) RefuseVerb(_ context.Context, n node.Node, r plan.Request) error {
	if r.Verb == plan.Forget && strings.Contains(n.Name, "~") {
		return node.Refuse(node.Conflict, "Node %s belongs to BareMetalHost default/a (provisioned), which would not know "+
			"that this deletes it. To do it by the host: delete the host. To do it all the same, send a header.", n.Name)
	}
	return nil
}

// older is the same conductor with Ironic's API alone, up to 1.82.
func older(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(nodeapi.HeaderMaxVersion, "1.82")
		asked, err := nodeapi.ParseVersion(r.Header.Get(nodeapi.HeaderVersion))
		switch {
		case err == nil && asked > 82:
			w.WriteHeader(http.StatusNotAcceptable)
		case strings.HasPrefix(r.URL.Path, "/ferrite"), strings.HasPrefix(r.URL.Path, "/api"):
			w.WriteHeader(http.StatusNotFound)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// ancient knows only 1.10, and only how to make a node: a server from before
// nodes began in enroll.
func ancient(w http.ResponseWriter, r *http.Request) {
	const newest = 10
	w.Header().Set(nodeapi.HeaderMinVersion, nodeapi.Version(nodeapi.MinMinor))
	w.Header().Set(nodeapi.HeaderMaxVersion, nodeapi.Version(newest))
	asked, err := nodeapi.ParseVersion(r.Header.Get(nodeapi.HeaderVersion))
	switch {
	case err == nil && asked > newest:
		w.WriteHeader(http.StatusNotAcceptable)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/nodes":
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"uuid":"11111111-2222-4333-8444-555555555555","name":"m1","provision_state":"available"}`)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// guard serves the same conductor over HTTPS to users only: alice, an admin with the
// password wonderland, and bob, a reader with a token. The script finds the URL, the
// authority and the token in its variables, and nothing of them in force.
func guard(env *testscript.Env, h http.Handler) error {
	token, kept := auth.NewToken("test", nil)
	users, err := auth.Users{Users: []auth.User{{Name: "alice", Role: "admin"},
		{Name: "bob", Role: "reader", Tokens: []auth.Token{kept}}}}.Encode()
	if err != nil {
		return err
	}
	hash, err := bcrypt.GenerateFromPassword([]byte("wonderland"), bcrypt.MinCost)
	if err != nil {
		return err
	}
	srv := httptest.NewUnstartedServer(nil)
	for name, text := range map[string]string{
		"known-users": string(users), "known-passwords": "alice:" + string(hash) + "\n",
	} {
		if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	who, err := auth.New(auth.Options{
		Htpasswd: filepath.Join(env.WorkDir, "known-passwords"), Users: filepath.Join(env.WorkDir, "known-users"),
		Tokens: true,
		Log:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	srv.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := who.Authenticate(w, r)
		var fault *nodeapi.Fault
		switch {
		case errors.As(err, &fault):
			_ = fault.Write(w)
		case c.Role < auth.Operator && r.Method != http.MethodGet:
			_ = nodeapi.NewFault(http.StatusForbidden, "Access was denied to %s", c.User).Write(w)
		default:
			h.ServeHTTP(w, r)
		}
	})
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	srv.StartTLS()
	env.Defer(srv.Close)
	env.Setenv("GUARDED_URL", srv.URL)
	env.Setenv("PLAIN_URL", strings.Replace(srv.URL, "https://", "http://", 1)) // the same port, not spoken to in TLS
	env.Setenv("TOKEN", token)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	return os.WriteFile(filepath.Join(env.WorkDir, "ca.pem"), ca, 0o600)
}

// uuidOf sets UUID to the UUID of the object in a file of JSON: "uuidof FILE".
func uuidOf(ts *testscript.TestScript, _ bool, args []string) {
	var made struct{ UUID string }
	if len(args) != 1 || json.Unmarshal([]byte(ts.ReadFile(args[0])), &made) != nil || made.UUID == "" {
		ts.Fatalf("usage: uuidof FILE, of JSON with a uuid")
	}
	ts.Setenv("UUID", made.UUID)
}

// breakBMC makes every question to a BMC fail from now on: "break REASON".
func breakBMC(ts *testscript.TestScript, _ bool, args []string) {
	c, ok := ts.Value("conductor").(*apitest.Conductor)
	if !ok || len(args) != 1 {
		ts.Fatalf("usage: break REASON")
	}
	c.BMC.Break(node.Refuse(node.Invalid, "%s", args[0]))
}

// inspected stores an inventory as the result of a node's inspection.
func inspected(ts *testscript.TestScript, _ bool, args []string) {
	c, ok := ts.Value("conductor").(*apitest.Conductor)
	if !ok || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: inspected NODE FILE [PLUGINDATA]")
	}
	plugin := "{}"
	if len(args) == 3 {
		plugin = ts.ReadFile(args[2])
	}
	n, err := c.Engine.Node(context.Background(), args[0])
	ts.Check(err)
	found := node.Inspected{Inventory: []byte(ts.ReadFile(args[1])), PluginData: []byte(plugin)}
	_, err = c.Engine.Store.Commit(context.Background(), node.Change{Save: &n, Inspected: &found})
	ts.Check(err)
}

// exits runs a command that ends with an exit status: "exits STATUS COMMAND...".
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	var ended *exec.ExitError
	if !errors.As(err, &ended) || fmt.Sprint(ended.ExitCode()) != args[0] {
		ts.Fatalf("%v, want exit status %s", err, args[0])
	}
}

// erased puts a signed erase report of a node on record, of the kind that is asked
// for, and its UUID into a variable.
func erased(ts *testscript.TestScript, _ bool, args []string) {
	c, ok := ts.Value("conductor").(*apitest.Conductor)
	tb, isTest := ts.Value("test").(testing.TB)
	if !ok || !isTest || len(args) < 2 {
		ts.Fatalf("usage: erased NODE VARIABLE [failed|cut-off]")
	}
	if len(args) > 2 && args[2] == "cut-off" {
		ts.Setenv(args[1], c.CutOff(tb, args[0]))
		return
	}
	ts.Setenv(args[1], c.Erased(tb, args[0], len(args) > 2))
}

// tamper copies a file with some text of it replaced, once, by another.
func tamper(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 4 {
		ts.Fatalf("usage: tamper FROM TO OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[2]) {
		ts.Fatalf("%s has no %s to change", args[0], args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Replace(text, args[2], args[3], 1)), 0o600))
}
