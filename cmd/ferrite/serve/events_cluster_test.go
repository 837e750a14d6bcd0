package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// checkOneStream: the events of all groups are one log, which every conductor answers with. A cursor of one is good at
// another, and a cursor of another cluster is refused.
func checkOneStream(t *testing.T, client *http.Client, all ...*conductor) {
	t.Helper()
	wanted := []string{"far manageable by rack", "near manageable by main"}
	first, states := stream(t, all[0])
	// An event is sent once no transaction can come before it any more; other tests have some at the same server.
	for end := time.Now().Add(servetest.Patience); len(missing(wanted, states)) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not tell %v, only %v", all[0].URL, missing(wanted, states), states)
		}
		first, states = stream(t, all[0])
	}
	middle := first[len(first)/2]
	for _, c := range all {
		if cursors, _ := stream(t, c); !slices.Equal(first, cursors) {
			t.Errorf("%s tells another order (-first +this):\n%s", c.URL, cmp.Diff(first, cursors))
		}
		_, text, err := c.Send("GET", "/ferrite/v1/events?wait=0&after="+middle, nil)
		if rest := eventsOf(t, string(text)); err != nil || len(rest) != len(first)-len(first)/2-1 ||
			rest[0].Cursor != first[len(first)/2+1] {
			t.Errorf("%s continues with %d events of %d, %v", c.URL, len(rest), len(first), err)
		}
	}
	other := &conductor{HTTP: client}
	other = startFor(t, other, t.TempDir(), "--auth", "none")
	defer other.End(t)
	status, text, err := other.Send("GET", "/ferrite/v1/events?after="+middle, nil)
	if err != nil || status != http.StatusBadRequest || !strings.Contains(string(text), "of another database") {
		t.Errorf("a cursor of another cluster: %d %s, %v", status, text, err)
	}
}

// stream returns the cursors of all events of a conductor, and the state changes with their nodes and conductors.
func stream(t *testing.T, c *conductor) (cursors, states []string) {
	t.Helper()
	status, text, err := c.Send("GET", "/ferrite/v1/events?after=0&wait=0", nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", c.URL, status, text, err)
	}
	for _, e := range eventsOf(t, string(text)) {
		cursors = append(cursors, e.Cursor)
		if e.Node != nil && e.Type == "node.state" {
			states = append(states, e.Node.Name+" "+e.Node.State+" by "+e.Conductor)
		}
	}
	return cursors, states
}

// missing are the wanted that are not there.
func missing(wanted, there []string) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(w string) bool { return slices.Contains(there, w) })
}

// TestEventsAfterCopy: the events stay in the database that was copied. A cursor of it is refused by the copy, in words
// that say how to go on.
func TestEventsAfterCopy(t *testing.T) {
	t.Parallel()
	dir, address := t.TempDir(), postgrestest.URL(t)
	c := start(t, dir, "--auth", "none")
	c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "n1"}, http.StatusCreated)
	_, page := fetch(t, c.URL+"/ferrite/v1/events?after=0&wait=0")
	cursor := eventsOf(t, page)[0].Cursor
	c.End(t)
	if out, err := storeOf(t, "copy", dir, address); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c = start(t, dir, "--auth", "none", "--database", address)
	defer c.End(t)
	status, text := fetch(t, c.URL+"/ferrite/v1/events?after="+cursor)
	if status != http.StatusBadRequest || !strings.Contains(text, "begin anew, with after=0") {
		t.Errorf("a cursor of before the copy: %d %s", status, text)
	}
	c.Call(t, "DELETE", "/v1/nodes/n1", nil, http.StatusNoContent)
	_, page = fetch(t, c.URL+"/ferrite/v1/events?after=0")
	if all := eventsOf(t, page); len(all) != 1 || all[0].Type != "node.deleted" {
		t.Errorf("the events of the copy: %s", page)
	}
}

// TestFollowers: clients follow in all places of their host, each has every event, and one more is refused. Other
// requests have theirs.
func TestFollowers(t *testing.T) {
	const followers = 32 + 16
	c := start(t, t.TempDir(), "--auth", "none")
	defer c.End(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all, begun sync.WaitGroup
	begun.Add(followers)
	got := make([]string, followers)
	for i := range followers {
		all.Go(func() {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			answer, err := followed(ctx, transport, c.URL)
			begun.Done()
			if err != nil {
				t.Errorf("follower %d: %v", i, err)
				return
			}
			defer answer.Body.Close()
			text := make([]byte, 0, 4096)
			for !strings.Contains(string(text), `"name":"second"`) && err == nil && len(text) < cap(text) {
				var n int
				n, err = answer.Body.Read(text[len(text):cap(text)])
				text = text[:len(text)+n]
			}
			for line := range strings.Lines(string(text)) {
				if kind, is := strings.CutPrefix(line, "event: "); is {
					got[i] += strings.TrimSpace(kind) + " "
				}
			}
		})
	}
	begun.Wait()
	more := &http.Transport{}
	defer more.CloseIdleConnections()
	if answer, err := followed(ctx, more, c.URL); err != nil || answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more is answered %v, %v", answer, err)
	} else {
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	began := time.Now()
	for _, name := range []string{"first", "second"} {
		c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": name}, http.StatusCreated)
	}
	timer := time.AfterFunc(servetest.Patience, cancel)
	all.Wait()
	timer.Stop()
	for i, types := range got {
		if types != "node.created node.created " {
			t.Fatalf("follower %d has %q", i, types)
		}
	}
	t.Logf("%d followers had two events after %s", followers, time.Since(began).Round(time.Millisecond))
}

// followed asks for events as they come.
func followed(ctx context.Context, transport *http.Transport, url string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/ferrite/v1/events", nil)
	if err != nil {
		return nil, fmt.Errorf("follow: %w", err)
	}
	r.Header.Set("Accept", "text/event-stream")
	return transport.RoundTrip(r)
}
