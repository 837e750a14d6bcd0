package e2e

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// reads measures how nodes are made, one after the other and side by side, and
// then how one is read, and lists of all that there are.
func (c *caller) reads(ctx context.Context, t *table, one string) error {
	more := make([]string, (loadListed-loadNodes)/2)
	for _, callers := range []int{1, 8} {
		err := t.measure(fmt.Sprintf("create a node, %d callers", callers), func() (int, error) {
			return len(more), each(callers, more, func(string) error {
				_, err := c.create(ctx, map[string]any{
					"name": "load-" + uuid.NewString()[24:], "resource_class": "load", "extra": map[string]any{"rack": "r1"},
					"properties": map[string]any{"cpus": 8, "memory_mb": 65536, "local_gb": 100, "cpu_arch": "x86_64"},
				})
				return err
			})
		})
		if err != nil {
			return err
		}
	}
	for _, r := range []struct {
		name    string
		callers int
		path    string
		nodes   int
	}{
		{"read a node, 1 caller", 1, "/v1/nodes/" + one, 1},
		{fmt.Sprintf("read a node, %d callers", loadReaders), loadReaders, "/v1/nodes/" + one, 1},
		{fmt.Sprintf("list %d nodes", loadListed), 1, fmt.Sprintf("/v1/nodes?limit=%d", loadListed), loadListed},
		{fmt.Sprintf("list %d nodes, three fields", loadListed), 1,
			fmt.Sprintf("/v1/nodes?limit=%d&fields=uuid,name,provision_state", loadListed), loadListed},
		{fmt.Sprintf("list %d nodes in detail", loadListed), 1,
			fmt.Sprintf("/v1/nodes?limit=%d&detail=True", loadListed), loadListed},
	} {
		get := func(int) error { return c.get(ctx, r.path, r.nodes) }
		if err := get(0); err != nil {
			return err
		}
		if err := t.measure(r.name, func() (int, error) { return during(r.callers, get) }); err != nil {
			return err
		}
	}
	return nil
}

// create enrolls a node of fake-hardware with some fields more.
func (c *caller) create(ctx context.Context, fields map[string]any) (string, error) {
	body := map[string]any{"driver": "fake-hardware"}
	for k, v := range fields {
		body[k] = v
	}
	var n nodeapi.Node
	err := c.call(ctx, "POST", "/v1/nodes", body, &n)
	return n.UUID, err
}

// get reads a path and counts the nodes in the answer without decoding it: the
// client shares the processors with the server.
func (c *caller) get(ctx context.Context, path string, nodes int) error {
	status, answer, err := c.once(ctx, "GET", path, nil)
	if err != nil {
		return err
	}
	if got := strings.Count(string(answer), `"uuid":`); status != 200 || got != nodes {
		return fmt.Errorf("GET %s: status %d, %d nodes, want %d: %.300s", path, status, got, nodes, answer)
	}
	return nil
}
