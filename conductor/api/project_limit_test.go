package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestProjectLimits: a project has as many records and bytes as it may. The store counts once a minute, and again
// before a request is refused, so that deleted records count no longer.
func TestProjectLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored, looks := node.Usage{}, 0
		l := &ProjectLimits{Most: node.Usage{"nodes": 100, "bytes": 1 << 20},
			Usage: func(context.Context, string) (node.Usage, error) {
				looks++
				return node.Usage{"nodes": stored["nodes"], "bytes": stored["bytes"]}, nil
			}}
		add := func(kind string, size int64) error {
			err := l.take(t.Context(), "blue", kind, size)
			if err == nil {
				l.stored("blue", size)
				stored[kind]++
				stored["bytes"] += size
			}
			return err
		}
		for i := range 100 {
			if err := add("nodes", 1000); err != nil {
				t.Fatalf("node %d: %v", i, err)
			}
		}
		if looks != 1 {
			t.Errorf("100 nodes took %d counts", looks)
		}
		for range 50 {
			if err := add("nodes", 1000); err == nil || !strings.Contains(err.Error(), "--project-limit nodes=100") {
				t.Fatalf("node 101: %v", err)
			}
		}
		if looks > 2 {
			t.Errorf("50 refusals at once took %d counts", looks-1)
		}
		stored["nodes"] -= 10
		time.Sleep(2 * time.Second)
		if err := add("nodes", 1000); err != nil {
			t.Errorf("after ten were deleted: %v", err)
		}
		if err := add("ports", 2<<20); err == nil || !strings.Contains(err.Error(), "bytes=1048576") {
			t.Errorf("2 MiB of 1: %v", err)
		}
		if err := l.take(t.Context(), "red", "nodes", 1); err != nil {
			t.Errorf("another project: %v", err)
		}
	})
}

// TestProjectLimitOfRefused: requests count by their stored bytes, not by their announced ones.
func TestProjectLimitOfRefused(t *testing.T) {
	l := &ProjectLimits{Most: node.Usage{"bytes": 1000},
		Usage: func(context.Context, string) (node.Usage, error) { return node.Usage{}, nil }}
	send := func(size int64, status int) error {
		r := httptest.NewRequest(http.MethodPatch, "/v1/nodes/x", nil)
		c := &rest.Call{Context: echo.New().NewContext(r, httptest.NewRecorder()), Caller: &auth.Caller{Project: "blue"}}
		if err := l.grow(c, size); err != nil {
			return err
		}
		return c.NoContent(status)
	}
	for _, step := range []struct {
		size    int64
		status  int
		refused bool
	}{{900, 404, false}, {900, 500, false}, {900, 200, false}, {900, 200, true}, {100, 202, false}, {1, 200, true}} {
		if err := send(step.size, step.status); (err != nil) != step.refused {
			t.Errorf("%d bytes, answered %d: %v", step.size, step.status, err)
		}
	}
}
