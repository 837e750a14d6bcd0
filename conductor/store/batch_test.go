package store_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestBatchOfFailures: of the writes that share a transaction, those that fail are undone alone, whether they fail at
// their first statement or after it.
func TestBatchOfFailures(t *testing.T) {
	const writes = 120
	for name, s := range databases(t) {
		t.Run(name, func(t *testing.T) {
			insert := func(name, address string) error {
				n := node.Node{UUID: uuid.NewString(), Name: name, Driver: "fake-hardware"}
				port := node.Port{UUID: uuid.NewString(), NodeUUID: n.UUID, Address: address}
				_, err := s.Commit(t.Context(), node.Change{Insert: &n, AddPorts: []node.Port{port}})
				return err
			}
			if err := insert("first", "52:54:00:00:00:00"); err != nil {
				t.Fatal(err)
			}
			errs := make([]error, writes)
			var all sync.WaitGroup
			for i := range writes {
				name, address := fmt.Sprintf("n%d", i), fmt.Sprintf("52:54:00:00:01:%02x", i)
				switch i % 3 {
				case 1:
					name = "first" // refused by the first statement
				case 2:
					address = "52:54:00:00:00:00" // refused when the node is written already
				}
				all.Go(func() { errs[i] = insert(name, address) })
			}
			all.Wait()
			for i, err := range errs {
				if (err == nil) != (i%3 == 0) {
					t.Errorf("write %d: %v", i, err)
				}
			}
			nodes, err := s.Nodes(t.Context(), node.Query{})
			ports, err2 := s.Ports(t.Context(), node.PortQuery{})
			if err != nil || err2 != nil || len(nodes) != 1+writes/3 || len(ports) != len(nodes) {
				t.Errorf("%d nodes and %d ports, want %d of both: %v, %v", len(nodes), len(ports), 1+writes/3, err, err2)
			}
		})
	}
}
