package cli_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// locking refuses the first writes of a command as a conductor does that is at work on the node.
type locking struct {
	inner http.Handler

	mu      sync.Mutex
	left    int // writes that are still refused
	refused int
}

func (l *locking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	locked := r.Method != http.MethodGet && l.left > 0
	if locked {
		l.left--
		l.refused++
	}
	l.mu.Unlock()
	if !locked {
		l.inner.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusConflict)
	fault, _ := json.Marshal(map[string]any{"faultcode": "Client", "debuginfo": nil,
		"faultstring": "Node m1 is locked by host conductor-1, please retry after the current operation is completed."})
	_ = json.NewEncoder(w).Encode(map[string]string{"error_message": string(fault)})
}

// TestLockedNode: every command that changes a node asks again while the conductor has the node locked.
func TestLockedNode(t *testing.T) {
	c := apitest.Start(t, mem.New(), nil)
	lock := &locking{inner: c.Config.Handler}
	front := httptest.NewServer(lock)
	defer front.Close()
	run := func(args string) (stderr string, status int) {
		return ferrite(t.Context(), front.URL, &bytes.Buffer{}, strings.Fields(args)...)
	}
	for _, args := range []string{"node create --driver fake-hardware --name m1 --port 52:54:00:00:00:01",
		"node manage m1 --wait"} {
		if stderr, status := run(args); status != 0 {
			t.Fatalf("%s: %s", args, stderr)
		}
	}
	for _, args := range []string{
		"node maintenance set m1 --reason fans", "node maintenance unset m1",
		"node boot-device set m1 pxe", "node boot-device set m1 pxe --persistent",
		"node boot-mode uefi m1", "node secure-boot off m1",
		"node power on m1", "node set m1 --description x", "node unset m1 --description",
		"node trait add m1 CUSTOM_A", "node trait remove m1 CUSTOM_A",
		"node vmedia insert m1 --image http://10.0.0.1/rescue.iso", "node vmedia eject m1",
		"node indicator set m1 led@system --state on",
		`node raid set m1 --config {"logical_disks":[{"size_gb":"MAX","raid_level":"1"}]}`,
		"node raid unset m1", "node vif attach m1 --id 11111111-2222-4333-8444-555555555555",
		"node vif detach m1 11111111-2222-4333-8444-555555555555",
		"node vendor call m1 third_method_sync --arguments {\"bar\":\"meow\"}",
		"port create 52:54:00:00:00:02 --node m1", "node provide m1", "node delete m1 --yes",
	} {
		lock.mu.Lock()
		lock.left, lock.refused = 2, 0
		lock.mu.Unlock()
		stderr, status := run(args)
		lock.mu.Lock()
		refused := lock.refused
		lock.left = 0
		lock.mu.Unlock()
		if status != 0 || refused != 2 {
			t.Errorf("%s: status %d after %d refusals, want 0 after 2: %s", args, status, refused, stderr)
		}
	}
}
