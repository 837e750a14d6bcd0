package servetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/spf13/cobra"
)

// Conductor is one `ferrite serve` inside the test.
type Conductor struct {
	URL   string
	HTTP  *http.Client        // http.DefaultClient when nil
	Sign  func(*http.Request) // adds the credentials; nil: none are asked for
	Far   bool                // it calls no BMC on the loopback
	Log   *apitest.Log
	Stop  context.CancelFunc
	Ended chan error
}

// AnyPort lets the kernel choose the port; the log says which it was.
const AnyPort = "127.0.0.1:0"

// FreePort is a port of the loopback without a listener, for a conductor that has the same after a restart.
func FreePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", AnyPort) //nolint:noctx // bound at once
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// Patience is how long a test waits on a busy machine.
const Patience = time.Minute

// Start starts cmd, `ferrite serve`, for fake hardware.
func Start(t testing.TB, cmd *cobra.Command, dir string, args ...string) *Conductor {
	t.Helper()
	return StartFor(t, &Conductor{}, cmd, dir, args...)
}

// StartFor starts the conductor c. The fields of c set how to call it.
func StartFor(t testing.TB, c *Conductor, cmd *cobra.Command, dir string, args ...string) *Conductor {
	t.Helper()
	if err := c.Begin(cmd, dir, args...); err != nil {
		t.Fatalf("%v\n%s", err, c.Log)
	}
	c.Call(t, "GET", "/v1", nil, http.StatusOK)
	return c
}

// Begin starts cmd, and waits until the conductor listens.
func (c *Conductor) Begin(cmd *cobra.Command, dir string, args ...string) error {
	ctx, stop := context.WithCancel(context.Background())
	c.Log, c.Stop, c.Ended = &apitest.Log{}, stop, make(chan error, 1)
	if !c.Far {
		args = slices.Concat(near, args)
	}
	cmd.SetArgs(serveArgs(dir, args))
	cmd.SetErr(c.Log)
	cmd.SilenceErrors = true
	go func() { c.Ended <- cmd.ExecuteContext(ctx) }()
	return c.Ready()
}

// near lets a conductor call services on the loopback.
var near = []string{"--bmc-allow", "127.0.0.0/8", "--registry-allow", "127.0.0.0/8", "--agent-allow", "127.0.0.0/8"}

// serveArgs are the arguments of every conductor, before its own.
func serveArgs(dir string, args []string) []string {
	return append([]string{"--data-dir", dir, "--api-address", AnyPort, "--hardware-types",
		"fake-hardware,redfish,ipmi", "--host", "test", "--disk-reserve", "0"}, args...)
}

// Ready waits until the conductor logs its address; an error says that it never will.
func (c *Conductor) Ready() error {
	rest, err := c.said("msg=ready api=")
	c.URL, _, _ = strings.Cut(rest, " ")
	return err
}

// said waits until the log has a text, and returns the rest of the log after it.
func (c *Conductor) said(text string) (rest string, err error) {
	late := time.After(Patience)
	for {
		more := c.Log.More()
		if _, rest, there := strings.Cut(c.Log.String(), text); there {
			return rest, nil
		}
		select {
		case err := <-c.Ended:
			c.Ended <- err // for end, too
			return "", fmt.Errorf("it ended: %w", err)
		case <-late:
			return "", fmt.Errorf("the log does not say %q", text)
		case <-more:
		}
	}
}

// Says waits until the log has a text.
func (c *Conductor) Says(t testing.TB, text string) {
	t.Helper()
	if _, err := c.said(text); err != nil {
		t.Fatalf("%v\n%s", err, c.Log)
	}
}

// End stops the conductor; an error of it fails the test.
func (c *Conductor) End(t testing.TB) {
	t.Helper()
	c.Stop()
	select {
	case err := <-c.Ended:
		if err != nil {
			t.Errorf("it ended with %v\n%s", err, c.Log)
		}
	case <-time.After(Patience):
		t.Fatalf("it does not end:\n%s", c.Log)
	}
}

// Call makes one request, and expects the status want.
func (c *Conductor) Call(t testing.TB, method, path string, body any, want int) map[string]any {
	t.Helper()
	status, answer, err := c.Send(method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	if status != want {
		t.Fatalf("%s %s answers %d, want %d: %s", method, path, status, want, answer)
	}
	var doc map[string]any
	_ = json.Unmarshal(answer, &doc) // some answers have no body
	return doc
}

// Send makes one request at the newest microversion. It returns an error only for a broken connection.
func (c *Conductor) Send(method, path string, body any) (status int, answer []byte, err error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequest(method, c.URL+path, bytes.NewReader(raw))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("X-OpenStack-Ironic-API-Version", "latest")
	if _, merge := body.(MergePatch); merge {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	if c.Sign != nil {
		c.Sign(r)
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}

// Until waits until a node is in a state, and is not reserved.
func (c *Conductor) Until(t *testing.T, id, state string) map[string]any {
	t.Helper()
	var n map[string]any
	for end := time.Now().Add(Patience); time.Now().Before(end); {
		n = c.Call(t, "GET", "/v1/nodes/"+id, nil, 200)
		if n["provision_state"] == state && n["reservation"] == nil {
			return n
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("node is %v (%v), want %q", n["provision_state"], n["last_error"], state)
	return nil
}

// MergePatch is a body that is sent as a JSON merge patch (RFC 7396).
type MergePatch map[string]any
