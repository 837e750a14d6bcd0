package api_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// served is an API with n nodes, called without a network between.
func served(b *testing.B, n int) (http.Handler, []string) {
	c := newConductor(b)
	ids := make([]string, n)
	for i := range n {
		made, err := c.Engine.CreateNode(context.Background(), node.Node{
			Driver: "fake-hardware", Name: fmt.Sprintf("n%d", i), ResourceClass: "baremetal",
			Properties: map[string]any{"cpus": 4.0, "memory_mb": 4096.0, "local_gb": 100.0, "cpu_arch": "x86_64"},
			DriverInfo: map[string]any{"redfish_address": "https://10.0.0.1", "redfish_password": "x"},
		})
		if err != nil {
			b.Fatal(err)
		}
		ids[i] = made.UUID
	}
	nodes, err := c.Engine.Nodes(context.Background(), node.Query{})
	if err != nil {
		b.Fatal(err)
	}
	byID := map[string]node.Node{}
	for _, n := range nodes {
		byID[n.UUID] = n
	}
	return api.New(api.Options{Conductor: still{c.Engine, byID, nodes}, Log: slog.New(slog.DiscardHandler)}), ids
}

// still is a conductor that reads nodes at no cost, so that benchmarks measure the API alone.
type still struct {
	api.Conductor
	byID  map[string]node.Node
	nodes []node.Node
}

func (s still) Node(_ context.Context, ref string) (node.Node, error) { return s.byID[ref], nil }

func (s still) Nodes(context.Context, node.Query) ([]node.Node, error) { return s.nodes, nil }

func get(b *testing.B, h http.Handler, path string) int {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, nil)
	r.Header.Set(nodeapi.HeaderVersion, "1.82")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		b.Fatalf("GET %s: %d %s", path, w.Code, w.Body)
	}
	n, err := io.Copy(io.Discard, w.Body)
	if err != nil {
		b.Fatal(err)
	}
	return int(n)
}

func BenchmarkGetNode(b *testing.B) {
	h, ids := served(b, 1000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		b.SetBytes(int64(get(b, h, "/v1/nodes/"+ids[i%len(ids)])))
	}
}

func BenchmarkList1000(b *testing.B) {
	h, _ := served(b, 1000)
	for name, path := range map[string]string{
		"default": "/v1/nodes?limit=1000", "detail": "/v1/nodes?limit=1000&detail=True",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.SetBytes(int64(get(b, h, path)))
			}
		})
	}
}
