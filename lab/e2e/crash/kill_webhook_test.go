package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// halfReceiver takes every other request. It has the conductor killed while some of its requests are under way: before
// the answer, so that the conductor cannot know whether the event was taken.
type halfReceiver struct {
	mu    sync.Mutex
	asked int
	taken map[string]int // how often, by the message's id
	order []string       // ids as they came first
	names []string       // of the nodes that were made
	kill  func()         // at the next request that is taken; nil for none
}

func (h *halfReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var e struct{ Data nodeapi.Event }
	if json.NewDecoder(r.Body).Decode(&e) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.asked++; h.asked%2 == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	id := r.Header.Get("Webhook-Id")
	if h.taken[id]++; h.taken[id] == 1 {
		h.order = append(h.order, id)
		if e.Data.Type == "node.created" {
			h.names = append(h.names, e.Data.Node.Name)
		}
	}
	if h.kill != nil {
		h.kill()
		h.kill = nil
	}
}

func (h *halfReceiver) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.order)
}

// TestKillWithWebhooks kills conductors before, amid and after commits, and while a receiver is about to answer. The
// receiver fails half the time. It gets every event at least once, and the events of every acknowledged write.
func TestKillWithWebhooks(t *testing.T) {
	dir := t.TempDir()
	receiver := &halfReceiver{taken: map[string]int{}}
	at := httptest.NewServer(receiver)
	defer at.Close()
	hooks := filepath.Join(dir, "hooks.yaml")
	if err := os.WriteFile(hooks, []byte("- {name: half, from: oldest, url: '"+at.URL+"'}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--webhooks", hooks, "--webhook-allow", "127.0.0.1"}
	data := filepath.Join(dir, "data")
	var acknowledged []string
	lives := []cut{{moment: before, nth: 3}, {moment: amid, nth: 2}, {moment: after, nth: 2}, {moment: never},
		{moment: never}}
	for life, c := range lives {
		conductor, p := processCut(t, c, data, "", args...)
		if c.moment == never {
			receiver.mu.Lock()
			receiver.kill = func() { _ = p.Kill() }
			receiver.mu.Unlock()
		}
		for i := 0; ; i++ {
			name := fmt.Sprintf("n-%d-%d", life, i)
			status, answer, err := conductor.Send("POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": name})
			if err != nil {
				break
			}
			if status != http.StatusCreated {
				t.Fatalf("%d %s", status, answer)
			}
			acknowledged = append(acknowledged, name)
			if i > 0 {
				time.Sleep(200 * time.Millisecond) // for the receiver to be asked
			}
		}
		select {
		case <-conductor.Ended: // killed
		case <-time.After(servetest.Patience):
			t.Fatalf("life %d does not end:\n%s", life, conductor.Log)
		}
		conductor.Stop()
		conductor.HTTP.CloseIdleConnections()
	}
	last, _ := processCut(t, cut{moment: never}, data, "", args...)
	defer last.End(t)
	_, page, err := last.Send("GET", "/ferrite/v1/events?after=0&wait=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	kept := strings.Count(string(page), "\n")
	for end := time.Now().Add(servetest.Patience); receiver.count() < kept && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	receiver.mu.Lock()
	defer receiver.mu.Unlock()
	repeated := 0
	for i, id := range receiver.order {
		if !regexp.MustCompile(fmt.Sprintf(`^[0-9a-f-]+-%d$`, i+1)).MatchString(id) {
			t.Errorf("event %d to arrive is %s", i+1, id)
		}
		if receiver.taken[id] > 1 {
			repeated++
		}
	}
	for _, name := range acknowledged {
		if !slices.Contains(receiver.names, name) {
			t.Errorf("node %s was acknowledged, and the receiver knows nothing of it", name)
		}
	}
	if len(receiver.order) != kept || len(acknowledged) < len(lives) {
		t.Errorf("the receiver has %d of %d events of %d nodes:\n%s", len(receiver.order), kept, len(acknowledged), last.Log)
	}
	t.Logf("%d lives, %d nodes acknowledged, %d events, %d requests, %d events taken twice", len(lives)+1,
		len(acknowledged), kept, receiver.asked, repeated)
}
