package serve

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnreadableNode: a conductor starts with a node in an unreadable row, says so, and serves the others.
func TestUnreadableNode(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	c := start(t, dir)
	for _, name := range []string{"first", "spoiled", "last"} {
		c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": name}, http.StatusCreated)
	}
	c.End(t)
	changeRows(t, dir, "UPDATE nodes SET doc = '{' WHERE name = 'spoiled'")

	c = start(t, dir)
	defer c.End(t)
	for _, name := range []string{"first", "last"} {
		c.Call(t, "GET", "/v1/nodes/"+name, nil, http.StatusOK)
	}
	const want = "a record of the database cannot be read"
	c.Says(t, want)
	if log := c.Log.String(); strings.Count(log, want) != 1 {
		t.Errorf("the log says %d times %q, want once:\n%s", strings.Count(log, want), want, log)
	}
}
