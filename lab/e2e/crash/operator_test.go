//go:build e2e

package crash

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// operator is a script and whoever starts the conductor again when it is gone.
type operator struct {
	t         *testing.T
	dir       string
	database  string // URL of a PostgreSQL database, "" for one in the folder
	address   string // its conductors' own: no other process answers there
	cuts      []cut  // one for each life; later lives are not cut
	everyLife cut    // for all lives without one of their own

	c      *servetest.Conductor
	kept   []*apitest.Log // the diaries, by life
	lives  int
	closed bool
	known  []string               // the nodes there are
	api    atomic.Pointer[string] // URL of the conductor that lives
	asks   string                 // the request under way
	went   string                 // its outcome after the last death
}

// scene is a node's state after one request.
type scene struct {
	Ask, Of string
	Node    map[string]any
	History []string
}

// script asks for everything in turn.
func (o *operator) script(asks []ask) (scenes []scene) {
	o.t.Helper()
	o.begin()
	defer o.stop()
	if asks[0].body["deploy_interface"] == "direct" {
		defer servetest.BootRamdisk(o.t, &o.api)()
	}
	for _, a := range asks {
		o.do(a)
		if a.path == "" {
			o.known = append(o.known, a.of())
		}
		for _, uuid := range o.known {
			scenes = append(scenes, o.scene(a, uuid))
		}
	}
	if o.lives <= len(o.cuts) { // the last write's effect is seen before the death at it
		o.revive(errors.New("all is done"))
	}
	o.stop()
	o.checkDatabase()
	return scenes
}

// begin starts a conductor in a process of its own.
func (o *operator) begin() {
	o.t.Helper()
	at := cut{moment: never}
	if o.lives < len(o.cuts) {
		at = o.cuts[o.lives]
	} else if o.everyLife.nth > 0 {
		at = o.everyLife
	}
	o.lives++
	diary := &apitest.Log{}
	o.kept = append(o.kept, diary)
	c := &servetest.Conductor{Log: &apitest.Log{}, Ended: make(chan error, 1)}
	cmd := exec.Command(os.Args[0], "--data-dir", filepath.Join(o.dir, "data"), "--api-address", o.address+":0",
		"--hardware-types", "fake-hardware", "--host", "test", "--sync-power-state-interval", "0", "--agent-allow",
		"127.0.0.0/8")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s", cutVariable, at), databaseVariable+"="+o.database)
	cmd.Stdout, cmd.Stderr = diary, c.Log
	input, err := cmd.StdinPipe()
	if err != nil {
		o.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	c.Stop = func() { _ = input.Close() }
	go func() { c.Ended <- cmd.Wait() }()
	o.c = c
	if err := c.Ready(); err != nil && at.moment == never {
		o.t.Fatalf("%v\n%s", err, c.Log)
	}
	// A conductor that is to die may have died while it started.
	o.api.Store(&c.URL)
}

func (o *operator) stop() {
	if !o.closed {
		o.closed = true
		o.c.End(o.t)
	}
}

// revive waits until the conductor is dead and starts another.
func (o *operator) revive(why error) {
	o.t.Helper()
	select {
	case err := <-o.c.Ended:
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			o.closed = true
			o.t.Fatalf("the conductor ended by itself: %v\n%s", err, o.c.Log)
		}
	case <-time.After(servetest.Patience):
		o.t.Fatalf("%v, and the conductor lives", why)
	}
	o.went = o.asks + ": goes on"
	o.begin()
}

// do asks for one thing until it is done. It is asked for again only when the
// node shows that it was not accepted.
func (o *operator) do(a ask) {
	o.t.Helper()
	method, path, accepted := http.MethodPut, "/v1/nodes/"+a.of()+a.path, http.StatusAccepted
	if a.path == "" {
		method, path, accepted = http.MethodPost, "/v1/nodes", http.StatusCreated
	}
	was := o.mark(a.of())
	o.asks = a.name
	for {
		status, answer, err := o.c.Send(method, path, a.body)
		if err != nil {
			o.revive(err)
			o.went = a.name + ": accepted unheard, goes on"
		} else if status != accepted {
			o.t.Fatalf("%s is answered %d: %s", a.name, status, answer)
		}
		n := o.rest(a.of())
		if o.mark(a.of()) != was {
			if n["provision_state"] != a.wanted && n["power_state"] != a.wanted {
				o.t.Fatalf("%s ends in %q, %q, want %q; last_error %v", a.name, n["provision_state"], n["power_state"], a.wanted,
					n["last_error"])
			}
			return
		}
		if err == nil {
			o.t.Fatalf("%s was accepted, and is forgotten", a.name)
		}
		o.went = a.name + ": not accepted, asked again"
	}
}

// get reads something, whoever dies meanwhile; nil when it does not exist.
func (o *operator) get(path string) []byte {
	o.t.Helper()
	for {
		switch status, answer, err := o.c.Send(http.MethodGet, path, nil); {
		case err != nil:
			o.revive(err)
		case status == http.StatusNotFound:
			return nil
		case status != http.StatusOK:
			o.t.Fatalf("GET %s answers %d: %s", path, status, answer)
		default:
			return answer
		}
	}
}

// rest waits until the node is not reserved. The API reads a node before its reservation, so that only the second look
// is sure to see the result.
func (o *operator) rest(uuid string) (n map[string]any) {
	o.t.Helper()
	quiet := 0
	for end := time.Now().Add(servetest.Patience); time.Now().Before(end); {
		n = map[string]any{}
		if answer := o.get("/v1/nodes/" + uuid); answer != nil {
			if err := json.Unmarshal(answer, &n); err != nil {
				o.t.Fatal(err)
			}
		}
		state, _ := n["provision_state"].(string)
		class := node.State(state).Class()
		if quiet++; n["reservation"] != nil || class == node.Working || class == node.Waiting {
			quiet = 0
		}
		if quiet == 2 {
			return n
		}
		time.Sleep(2 * time.Millisecond)
	}
	o.t.Fatalf("the node stays %q, reserved by %v", n["provision_state"], n["reservation"])
	return nil
}

// mark changes with everything that is done to the node.
func (o *operator) mark(uuid string) string {
	o.t.Helper()
	answer := o.get("/v1/nodes/" + uuid)
	if answer == nil {
		return ""
	}
	var n map[string]any
	if err := json.Unmarshal(answer, &n); err != nil {
		o.t.Fatal(err)
	}
	return fmt.Sprint(n["provision_state"], n["power_state"], o.history(uuid, func(e entry) string { return e.UUID }))
}

type entry struct {
	UUID, Severity, Event, State string
	EventType                    string `json:"event_type"`
	Target                       string `json:"target_provision_state"`
}

func (o *operator) history(uuid string, show func(entry) string) (out []string) {
	o.t.Helper()
	var h struct{ History []entry }
	if err := json.Unmarshal(o.get("/v1/nodes/"+uuid+"/history?detail=true"), &h); err != nil {
		o.t.Fatal(err)
	}
	for _, e := range h.History {
		out = append(out, show(e))
	}
	return out
}

// Texts that differ between any two lives: times, spans, and the address.
var (
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[0-9.]*(Z|[+-]\d\d:\d\d)`)
	spans = regexp.MustCompile(`done in [0-9.mµs]+`)
)

func (o *operator) scene(a ask, uuid string) scene {
	o.t.Helper()
	text := times.ReplaceAllString(string(o.get("/v1/nodes/"+uuid)), "TIME")
	s := scene{Ask: a.name, Of: uuid}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(text, o.c.URL, "URL")), &s.Node); err != nil {
		o.t.Fatal(err)
	}
	if info, ok := s.Node["driver_internal_info"].(map[string]any); ok {
		if status, ok := info["ferrite_status"].(map[string]any); ok {
			delete(status, "last_boot_stage") // only remembered
		}
	}
	s.History = o.history(uuid, tell)
	return s
}

// tell reduces an entry to the text that two lives share.
func tell(e entry) string {
	return spans.ReplaceAllString(fmt.Sprintf("%s %s: %s (%s, %s)", e.Severity, e.EventType, e.Event, e.State, e.Target),
		"done")
}

// diary is the first life's diary.
func (o *operator) diary() (lines []string) {
	for s := bufio.NewScanner(strings.NewReader(o.kept[0].String())); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

// postgresSample is every how many a write conductors on PostgreSQL are killed.
var postgresSample = flag.Int("postgres-sample", 24, "kill conductors on PostgreSQL at every so many a write")

// checkDatabase checks the database that the conductors have left.
func (o *operator) checkDatabase() {
	o.t.Helper()
	place := store.Place{Address: o.database}
	if o.database == "" {
		place.File = filepath.Join(o.dir, "data", "ferrite.db")
	}
	found, err := store.Check(o.t.Context(), place, store.CheckOptions{})
	if err != nil {
		o.t.Fatal(err)
	}
	for _, f := range found.Faults {
		o.t.Error(f)
	}
	for _, table := range found.Tables {
		if table.Name == "effects" && table.Rows > 0 {
			o.t.Errorf("%d effects are owed, want none", table.Rows)
		}
	}
}
