//go:build e2e || clients || keystone

package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
)

// Ironic's own clients, and the Debian packages they come in. The SDK is in Debian's Python alone, even if the PATH has
// another python3 first.
const (
	ironicClient = "/usr/bin/baremetal"
	python       = "/usr/bin/python3"
	openstackSDK = "/usr/lib/python3/dist-packages/openstack/baremetal"
)

// installed fails a test without its client: a skip would look like a pass.
func installed(t *testing.T, path, pkg string) {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s is missing: install Debian's package %s, or all with make deps", path, pkg)
	} else if err != nil {
		t.Fatal(err)
	}
}

// TestE2EBaremetalClient: Ironic's CLI, unmodified, takes a node through its life. The other scripts of
// testdata/baremetal are TestClientsBaremetal's.
func TestE2EBaremetalClient(t *testing.T) { runScripts(t, "testdata/baremetal/life.txt") }

// runScripts runs scripts of Ironic's CLI, each against a conductor of its own with fake hardware, which asks for no
// login.
func runScripts(t *testing.T, files ...string) {
	runScriptsAt(t, login{env: []string{"OS_AUTH_TYPE=none"}}, files...)
}

// login is how conductors ask for a login, and how their callers log in.
type login struct {
	serve []string            // flags
	sign  func(*http.Request) // of the test's own requests; nil for none
	env   []string            // of the client
	// announce, unless nil, announces a conductor's URL to clients. It returns more variables of their environment.
	announce func(url string) ([]string, error)
}

func runScriptsAt(t *testing.T, as login, files ...string) {
	installed(t, ironicClient, "python3-ironicclient")
	program, err := filepath.Abs("testdata/baremetal.py")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: files, ContinueOnError: true, // each further failure is worth a look
		Setup: func(env *testscript.Env) error {
			tb, ok := env.T().(testing.TB)
			if !ok {
				return fmt.Errorf("%T is no testing.TB", env.T())
			}
			c := servetest.StartFor(tb, &servetest.Conductor{Sign: as.sign}, serve.Command(),
				filepath.Join(tb.TempDir(), "data"), as.serve...)
			env.Defer(func() { c.End(tb) })
			said := []string{"OS_ENDPOINT=" + c.URL}
			if as.announce != nil {
				if said, err = as.announce(c.URL); err != nil {
					return err
				}
			}
			client, err := startClient(program, env.WorkDir, slices.Concat(env.Vars, as.env, said, []string{"COLUMNS=1000"}))
			if err != nil {
				return err
			}
			env.Defer(func() {
				if err := client.end(); err != nil {
					tb.Errorf("the client ended with %v", err)
				}
			})
			env.Values["conductor"], env.Values["client"] = c, client
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"baremetal": baremetal, "settled": settled,
			"keep": keep},
	})
}

// TestE2EOpenstackSDK runs testdata/openstacksdk.py: the bare-metal half of the
// library that OpenStack's own tools are made of.
func TestE2EOpenstackSDK(t *testing.T) {
	installed(t, openstackSDK, "python3-openstacksdk")
	c := servetest.Start(t, serve.Command(), filepath.Join(t.TempDir(), "data"))
	defer c.End(t)
	cmd := exec.Command(python, "testdata/openstacksdk.py", c.URL)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir()) // it reads clouds.yaml where there is one
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// client is testdata/baremetal.py, which runs the commands of one script.
type client struct {
	cmd    *exec.Cmd
	input  io.WriteCloser
	ask    *json.Encoder
	answer *json.Decoder
}

func startClient(program, dir string, env []string) (*client, error) {
	cmd := exec.Command(python, program)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &client{cmd: cmd, input: input, ask: json.NewEncoder(input), answer: json.NewDecoder(output)}, cmd.Start()
}

func (c *client) end() error { return errors.Join(c.input.Close(), c.cmd.Wait()) }

// baremetal is a command of the client: "baremetal node show m1". A command after "!" fails at once, with the reason on
// its standard error: the client would otherwise retry a 409 for ten seconds.
func baremetal(ts *testscript.TestScript, fails bool, args []string) {
	c, ok := ts.Value("client").(*client)
	if !ok {
		ts.Fatalf("there is no client")
	}
	if fails {
		args = append([]string{"--max-retries", "1"}, args...)
	}
	var answer struct {
		Status         int
		Stdout, Stderr string
	}
	ts.Check(c.ask.Encode(args))
	ts.Check(c.answer.Decode(&answer))
	fmt.Fprint(ts.Stdout(), answer.Stdout)
	fmt.Fprint(ts.Stderr(), answer.Stderr)
	if failed := answer.Status != 0; failed != fails {
		ts.Fatalf("baremetal: exit status %d: %s", answer.Status, answer.Stderr)
	}
}

// settled waits until a node is not reserved: "settled m1 [STATE]". Some verbs of the client return before their work
// is done.
func settled(ts *testscript.TestScript, _ bool, args []string) {
	c, ok := ts.Value("conductor").(*servetest.Conductor)
	if !ok || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: settled NODE [STATE]")
	}
	var n struct {
		State    string `json:"provision_state"`
		Reserved any    `json:"reservation"`
	}
	for end := time.Now().Add(servetest.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		status, answer, err := c.Send("GET", "/v1/nodes/"+args[0]+"?fields=provision_state,reservation", nil)
		ts.Check(err)
		if status != http.StatusOK {
			ts.Fatalf("node %s: status %d: %s", args[0], status, answer)
		}
		ts.Check(json.Unmarshal(answer, &n))
		if n.Reserved == nil && (len(args) == 1 || n.State == args[1]) {
			return
		}
	}
	ts.Fatalf("node %s is %s, reserved by %v, and stays so", args[0], n.State, n.Reserved)
}

// keep puts the last command's output into a variable: "keep NAME".
func keep(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: keep NAME")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// TestE2EBaremetalBasic: Debian's command line for Ironic logs in, over HTTPS.
func TestE2EBaremetalBasic(t *testing.T) {
	installed(t, ironicClient, "python3-ironicclient")
	g := servetest.StartGuarded(t, serve.Command(), true)
	g.Write(t, "authority.pem", string(g.Authority.PEM()))
	for password, want := range map[string]string{"wonderland": "| enroll", "guess": "Incorrect username or password"} {
		cmd := exec.CommandContext(t.Context(), ironicClient, "node", "create", "--driver", "fake-hardware")
		cmd.Env = append(os.Environ(), "OS_AUTH_TYPE=http_basic", "OS_ENDPOINT="+g.URL, "OS_USERNAME=alice",
			"OS_PASSWORD="+password, "OS_CACERT="+g.Path("authority.pem"))
		out, err := cmd.CombinedOutput()
		if (err == nil) != (password == "wonderland") || !strings.Contains(string(out), want) {
			t.Errorf("with %q: %v, want %q in\n%s", password, err, want, out)
		}
	}
}
