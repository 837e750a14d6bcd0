package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// BenchmarkColdNode reads and saves nodes that no cache holds: with the secrets of a
// deployed node, and with none. Between the two lies the price of sealing.
func BenchmarkColdNode(b *testing.B) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for name, secret := range map[string]bool{"secrets": true, "none": false} {
		s := open(b, b.TempDir(), store.Options{NoSync: true, CacheBytes: 1})
		var ids []string
		for range 100 {
			id := fill(b, s, now)
			n, err := s.Node(b.Context(), id)
			if err != nil {
				b.Fatal(err)
			}
			if secret {
				n.InstanceInfo = map[string]any{"image_pull_secret": "user:pull"}
				n.Agent.Token = "token"
			} else {
				delete(n.DriverInfo, "redfish_password")
			}
			if _, err := s.Commit(b.Context(), node.Change{Save: &n}); err != nil {
				b.Fatal(err)
			}
			ids = append(ids, id)
		}
		b.Run(fmt.Sprintf("read/%s", name), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, err := s.Node(b.Context(), ids[i%len(ids)]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("save/%s", name), func(b *testing.B) {
			n, err := s.Node(b.Context(), ids[0])
			for b.Loop() {
				if err == nil {
					n, err = s.Commit(b.Context(), node.Change{Save: &n})
				}
			}
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
