package api_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// TestFullDisk: a write that finds no room is refused with that reason. Acknowledged records are still there, and
// writes go on once there is room.
func TestFullDisk(t *testing.T) {
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "db"), store.Options{NoSync: true, MaxPages: 150})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	c := &conductor{t: t, Conductor: apitest.Start(t, db, nil)}
	body := func(i int) string {
		return fmt.Sprintf(`{"driver":"fake-hardware","name":"n%d","extra":{"blob":"%s"}}`, i, strings.Repeat("x", 20_000))
	}
	made, status := 0, http.StatusCreated
	for ; status == http.StatusCreated && made < 150; made++ {
		r := c.do(115, "POST", "/v1/nodes", body(made))
		status = r.status
		if status != http.StatusCreated && !strings.Contains(r.text(), "data folder is full") {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	if made--; status != http.StatusInsufficientStorage || made == 0 {
		t.Fatalf("after %d nodes: %d, want %d", made, status, http.StatusInsufficientStorage)
	}
	for i := range made {
		c.must(http.StatusOK, 115, "GET", fmt.Sprintf("/v1/nodes/n%d", i), "")
	}
	c.must(http.StatusNoContent, 115, "DELETE", "/v1/nodes/n0", "")
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", body(made))
}
