package crash

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
)

// corePath is where documents of Kubernetes itself are.
const corePath = "/api/v1/namespaces/default/"

// writer makes one kind of write again and again until the conductor is gone. Each write is a function of its number.
// After a restart, kept reports whether the write of that number is there.
type writer struct {
	name string
	do   func(c *servetest.Conductor, i int) (status int, answer []byte, err error)
	want int // of a write that was done
	kept func(t *testing.T, c *servetest.Conductor, i int) bool
	// bare is a success that has no body.
	bare bool

	done []int // the writes acknowledged
}

// run writes until a connection breaks.
func (w *writer) run(t *testing.T, c *servetest.Conductor, acknowledged *atomic.Int64) {
	for i := 0; ; i++ {
		status, answer, err := w.do(c, i)
		switch {
		case err != nil:
			return
		case status == w.want && (w.bare || json.Valid(answer)):
			w.done = append(w.done, i)
			acknowledged.Add(1)
		case status == http.StatusServiceUnavailable || status == http.StatusConflict:
		default:
			t.Errorf("%s %d: %d with %d bytes %.80q, want %d, 409 or 503", w.name, i, status, len(answer), answer, w.want)
		}
	}
}

// stopWriters is a writer for every verb, of REST and of Kubernetes.
func stopWriters(t *testing.T, c *servetest.Conductor) []*writer {
	created := func(path string, body any) string {
		return c.Call(t, "POST", path, body, http.StatusCreated)["uuid"].(string)
	}
	node := map[string]any{"driver": "fake-hardware"}
	patched, large := created("/v1/nodes", node), created("/v1/nodes", node)
	var doomed, managed []string
	for range 60 {
		doomed, managed = append(doomed, created("/v1/nodes", node)), append(managed, created("/v1/nodes", node))
	}
	one := func(i int, of []string) string { return "/v1/nodes/" + of[min(i, len(of)-1)] }
	document := func(name string) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": name}, "stringData": map[string]any{"k": "v"}}
	}
	c.Call(t, "POST", corePath+"secrets", document("patched"), http.StatusCreated)
	set := func(path string, value any) []map[string]any {
		return []map[string]any{{"op": "add", "path": path, "value": value}}
	}
	there := func(c *servetest.Conductor, path string) bool {
		status, _, err := c.Send("GET", path, nil)
		return err == nil && status == http.StatusOK
	}
	atLeast := func(path ...string) func(t *testing.T, c *servetest.Conductor, i int) bool {
		return func(t *testing.T, c *servetest.Conductor, i int) bool {
			var at any = c.Call(t, "GET", path[0], nil, http.StatusOK)
			for _, key := range path[1:] {
				at = at.(map[string]any)[key]
			}
			var n int
			_, err := fmt.Sscan(at.(string), &n)
			return err == nil && n >= i
		}
	}
	return []*writer{
		{name: "PATCH of a node", want: http.StatusOK,
			do: func(c *servetest.Conductor, i int) (int, []byte, error) {
				return c.Send("PATCH", "/v1/nodes/"+patched, set("/extra/n", fmt.Sprint(i)))
			},
			kept: atLeast("/v1/nodes/"+patched, "extra", "n")},
		{name: "large PATCH", want: http.StatusOK,
			do: func(c *servetest.Conductor, i int) (int, []byte, error) {
				return c.Send("PATCH", "/v1/nodes/"+large,
					append(set("/extra/n", fmt.Sprint(i)), set("/extra/blob", strings.Repeat("x", 60<<10))...))
			},
			kept: atLeast("/v1/nodes/"+large, "extra", "n")},
		{name: "POST of a node", want: http.StatusCreated,
			do: func(c *servetest.Conductor, i int) (int, []byte, error) {
				return c.Send("POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": fmt.Sprintf("new-%d", i)})
			},
			kept: func(_ *testing.T, c *servetest.Conductor, i int) bool {
				return there(c, fmt.Sprintf("/v1/nodes/new-%d", i))
			}},
		{name: "DELETE of a node", want: http.StatusNoContent, bare: true,
			do: func(c *servetest.Conductor, i int) (int, []byte, error) {
				if i >= len(doomed) {
					return 0, nil, io.EOF
				}
				return c.Send("DELETE", one(i, doomed), nil)
			},
			kept: func(_ *testing.T, c *servetest.Conductor, i int) bool { return !there(c, one(i, doomed)) }},
		{name: "PUT of a verb", want: http.StatusAccepted, bare: true,
			do: func(c *servetest.Conductor, i int) (int, []byte, error) {
				if i >= len(managed) {
					return 0, nil, io.EOF
				}
				return c.Send("PUT", one(i, managed)+"/states/provision", map[string]any{"target": "manage"})
			},
			kept: func(t *testing.T, c *servetest.Conductor, i int) bool {
				return c.Call(t, "GET", one(i, managed), nil, http.StatusOK)["provision_state"] != "enroll"
			}},
		{name: "POST of a document", want: http.StatusCreated,
			do: func(c *servetest.Conductor, i int) (int, []byte, error) {
				return c.Send("POST", corePath+"secrets", document(fmt.Sprintf("new-%d", i)))
			},
			kept: func(_ *testing.T, c *servetest.Conductor, i int) bool {
				return there(c, fmt.Sprintf("%ssecrets/new-%d", corePath, i))
			}},
		{name: "PATCH of a document", want: http.StatusOK,
			do: func(c *servetest.Conductor, i int) (int, []byte, error) {
				return c.Send("PATCH", corePath+"secrets/patched",
					servetest.MergePatch{"metadata": map[string]any{"annotations": map[string]any{"n": fmt.Sprint(i)}}})
			},
			kept: atLeast(corePath+"secrets/patched", "metadata", "annotations", "n")},
	}
}

// stopTime is how long a conductor lets the requests under way finish.
const stopTime = 3 * time.Second

// TestStopUnderLoad: a conductor that is stopped amid all kinds of writes has done every write it acknowledged, and
// acknowledges nothing with an empty answer. Watches and followed logs end as whole answers.
func TestStopUnderLoad(t *testing.T) {
	const stops, writes = 3, 100
	for range stops {
		dir := filepath.Join(t.TempDir(), "data")
		c := servetest.Start(t, serve.Command(), dir, "--auth", "none", "--boot=false")
		transport := &http.Transport{}
		c.HTTP = &http.Client{Transport: transport}
		writers := stopWriters(t, c)
		followed := c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware"},
			http.StatusCreated)["uuid"].(string)
		var acknowledged atomic.Int64
		var busy sync.WaitGroup
		for _, w := range writers {
			busy.Go(func() { w.run(t, c, &acknowledged) })
		}
		for _, path := range []string{
			corePath + "secrets?watch=true", "/ferrite/v1/nodes/" + followed + "/logs?follow=true",
		} {
			busy.Go(func() {
				status, _, err := c.Send("GET", path, nil)
				if err != nil || status != http.StatusOK {
					t.Errorf("%s ends with %d, %v, want a whole answer", path, status, err)
				}
			})
		}
		for end := time.Now().Add(servetest.Patience); acknowledged.Load() < writes && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		began := time.Now()
		c.End(t)
		if took := time.Since(began); took > stopTime {
			t.Errorf("the stop took %v: something kept it waiting", took)
		}
		busy.Wait()
		transport.CloseIdleConnections()

		c = servetest.Start(t, serve.Command(), dir, "--auth", "none", "--boot=false")
		for _, w := range writers {
			if len(w.done) == 0 {
				t.Errorf("%s: none was acknowledged", w.name)
			}
			for _, i := range w.done {
				if !w.kept(t, c, i) {
					t.Errorf("%s %d was acknowledged and is not there", w.name, i)
				}
			}
		}
		c.End(t)
	}
}
