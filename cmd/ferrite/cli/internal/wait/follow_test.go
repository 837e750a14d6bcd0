package wait

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// conductor is a server with nodes that become active some time after the request.
type conductor struct {
	mu       sync.Mutex
	nodes    map[string]nodeapi.Status
	requests int
	answer   func(nth int, w http.ResponseWriter, r *http.Request) (done bool) // instead of the usual one
	asked    map[string]int                                                    // requests that were carried out
	conns    map[string]bool
}

func (c *conductor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	c.conns[r.RemoteAddr] = true
	if c.answer != nil && c.answer(c.requests, w, r) {
		return
	}
	switch {
	case r.URL.Path == nodeapi.FerriteRoot+"/nodes/status":
		reply := nodeapi.Statuses{Nodes: map[string]nodeapi.Status{}}
		for _, name := range strings.Split(r.URL.Query().Get("nodes"), ",") {
			if st, ok := c.nodes[name]; ok {
				reply.Nodes[name] = st
				if st.Activity != "" { // the next time it is there
					c.nodes[name] = nodeapi.Status{Node: name, State: "active"}
				}
			}
		}
		_ = json.NewEncoder(w).Encode(reply)
	case strings.HasSuffix(r.URL.Path, "/status"):
		name := strings.Split(r.URL.Path, "/")[4]
		if st, ok := c.nodes[name]; ok {
			_ = json.NewEncoder(w).Encode(st)
			return
		}
		http.Error(w, `{"error_message":"Node `+name+` could not be found."}`, http.StatusNotFound)
	case r.Method == http.MethodPut:
		c.begin(strings.Split(r.URL.Path, "/")[3])
		w.WriteHeader(http.StatusAccepted)
	default:
		http.Error(w, `{"error_message":"Node could not be found."}`, http.StatusNotFound)
	}
}

func (c *conductor) begin(name string) {
	c.asked[name]++
	c.nodes[name] = nodeapi.Status{Node: name, State: "deploying", Activity: "deploy", Since: time.Now()}
}

// lose ends the connection without an answer.
func lose(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

func fault(w http.ResponseWriter, status int, text string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error_message": text})
}

// deploy asks for nodes and follows them.
func (c *conductor) deploy(t *testing.T, limit time.Duration, names ...string) (screen string, err error) {
	t.Helper()
	c.asked, c.conns = map[string]int{}, map[string]bool{}
	if c.nodes == nil {
		c.nodes = map[string]nodeapi.Status{}
		for _, name := range names {
			c.nodes[name] = nodeapi.Status{Node: name, State: "available"}
		}
	}
	srv := httptest.NewServer(c)
	defer srv.Close()
	s := &client.Session{Url: srv.URL, Timeout: 10 * time.Second}
	if err := s.Open(strings.NewReader("")); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	sc := &Screen{w: &out, now: time.Now}
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, errors.New("not done in time"))
	defer cancel()
	nodes, err := Prepare(ctx, s, sc, names)
	if err != nil {
		return out.String(), err
	}
	Request(ctx, s, nodes, func(ctx context.Context, node string) error {
		return s.Client.Do(ctx, "PUT", client.NodePath(node, "states", "provision"), nodeapi.Provision{Target: "active"}, nil)
	})
	err = Follow(ctx, s, ProvisionGoal("active"), nodes, func(_ string, err error) error { return err })
	return out.String(), err
}

func TestFollow(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(nth int, w http.ResponseWriter, r *http.Request) bool
		limit  time.Duration
		fails  string
		shows  string
		asked  int // times that the node was really asked
	}{
		"as usual": {asked: 1, shows: "web is active"},
		"locked for a while": {asked: 1, shows: "waits until the conductor has finished its work on the node",
			answer: func(nth int, w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPut && nth < 5 {
					fault(w, http.StatusConflict, "Node web is locked by host lab, please retry.")
					return true
				}
				return false
			}},
		"no room for a while": {asked: 1, shows: "waiting for it",
			answer: func(nth int, w http.ResponseWriter, _ *http.Request) bool {
				if nth > 1 && nth < 6 {
					fault(w, http.StatusServiceUnavailable, "too many connections")
					return true
				}
				return false
			}},
		"connections are lost": {asked: 1, shows: "the conductor answers again",
			answer: func(nth int, w http.ResponseWriter, _ *http.Request) bool {
				if nth > 1 && nth < 6 {
					lose(w)
					return true
				}
				return false
			}},
		"the answer to a request that was carried out is lost": {asked: 1, shows: "web is active"},
		"refused": {fails: "can not be deployed",
			answer: func(_ int, w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPut {
					fault(w, http.StatusBadRequest, "it can not be deployed")
					return true
				}
				return false
			}},
		"refused at the first request": {fails: "Incorrect",
			answer: func(_ int, w http.ResponseWriter, _ *http.Request) bool {
				fault(w, http.StatusUnauthorized, "Incorrect username or password")
				return true
			}},
		"nobody is there": {fails: "cannot reach a conductor",
			answer: func(_ int, w http.ResponseWriter, _ *http.Request) bool {
				lose(w)
				return true
			}},
		"out of time": {asked: 1, fails: "not done in time; it was deploying", limit: 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &conductor{answer: c.answer}
			switch name {
			case "out of time":
				server.answer = func(_ int, w http.ResponseWriter, r *http.Request) bool {
					st := server.nodes["web"]
					if r.Method == http.MethodPut || st.Activity == "" {
						return false
					}
					_ = json.NewEncoder(w).Encode(nodeapi.Statuses{Nodes: map[string]nodeapi.Status{"web": st}})
					return true
				}
			case "the answer to a request that was carried out is lost":
				server.answer = func(_ int, w http.ResponseWriter, r *http.Request) bool {
					switch {
					case r.Method == http.MethodPut && server.asked["web"] == 0:
						server.begin("web")
						lose(w)
						return true
					case r.Method == http.MethodPut: // asked again
						fault(w, http.StatusConflict, "Node web is locked by host lab")
						return true
					}
					return false
				}
			}
			limit := c.limit
			if limit == 0 {
				limit = 20 * time.Second
			}
			screen, err := server.deploy(t, limit, "web")
			if (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("error %v, want %q", err, c.fails)
			}
			if !strings.Contains(screen, c.shows) {
				t.Errorf("the screen shows\n%s\nwant %q", screen, c.shows)
			}
			if server.asked["web"] != c.asked {
				t.Errorf("asked %d times, want %d", server.asked["web"], c.asked)
			}
		})
	}
}

// TestFollowMany follows 500 nodes over few connections and with few requests.
func TestFollowMany(t *testing.T) {
	var names []string
	for i := range 500 {
		names = append(names, fmt.Sprintf("n%03d", i))
	}
	c := &conductor{}
	screen, err := c.deploy(t, time.Minute, names...)
	if err != nil {
		t.Fatal(err)
	}
	if done := strings.Count(screen, " is active\n"); done != len(names) || len(c.asked) != len(names) {
		t.Errorf("%d of %d are active, %d were asked", done, len(names), len(c.asked))
	}
	if !strings.HasSuffix(screen, "\n500 done\n") {
		t.Errorf("there is no summary:\n%s", screen[len(screen)-100:])
	}
	// A connection is idle a moment after its answer was read: a call in that moment opens another.
	if len(c.conns) > 4*atATime || c.requests > len(names)+50 {
		t.Errorf("%d connections and %d requests for %d nodes", len(c.conns), c.requests, len(names))
	}
}

// TestSummary: each way in which a wait ends counts once, and nodes that are not done are named.
func TestSummary(t *testing.T) {
	held := &LandedError{nodeapi.Status{State: "deploy hold"}}
	got := summary([]*Followed{{Name: "a"}, {Name: "b"}, {Name: "g200", refused: true, err: errors.New("locked")},
		{Name: "g7", err: &LandedError{nodeapi.Status{State: "clean failed"}}}, {Name: "g8", err: held},
		{Name: "g9", err: exit.Is(exit.TimedOut, errors.New("late"))},
		{Name: "g10", refused: true, err: exit.Is(exit.Interrupted, errors.New("Ctrl-C"))}})
	if want := "2 done, 1 refused: g200, 1 failed: g7, 1 held: g8, 2 not finished: g9 g10"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestPrepareMissing acts on nothing when one of the names does not exist.
func TestPrepareMissing(t *testing.T) {
	c := &conductor{nodes: map[string]nodeapi.Status{"web": {Node: "web", State: "available"}}}
	_, err := c.deploy(t, time.Minute, "web", "wbe")
	if err == nil || !strings.Contains(err.Error(), "could not be found") || len(c.asked) != 0 {
		t.Errorf("%v; asked %v", err, c.asked)
	}
}

func TestPowerGoal(t *testing.T) {
	for _, c := range []struct {
		st   nodeapi.Status
		done bool
		err  string
	}{
		{nodeapi.Status{Name: "web", State: "rescue wait", Power: "power off"}, true, ""},
		{nodeapi.Status{Name: "web", Power: "power on", TargetPower: "power off"}, false, ""},
		{nodeapi.Status{Name: "web", Power: "power on", LastError: "the BMC refused"}, false,
			"node web is power on: the BMC refused"},
	} {
		done, err := PowerGoal("power off").Reached(c.st)
		if done != c.done || (err != nil) != (c.err != "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%+v: %t, %v", c.st, done, err)
		}
	}
	if text := PowerGoal("power off").text(nodeapi.Status{Name: "web", State: "rescue", Power: "power off"}); text !=
		"web is power off" {
		t.Error(text)
	}
}
