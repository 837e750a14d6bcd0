package core_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/storetest"
)

// BenchmarkRecover is the part of a start that continues with the nodes of the last
// run: 10,000 that have a pending effect each, or that wait for their ramdisk.
func BenchmarkRecover(b *testing.B) {
	for name, n := range map[string]node.Node{
		"10000-owed": {ProvisionState: node.Verifying, Run: &node.Run{Activity: "verify", Generation: 1}},
		"10000-waiting": {ProvisionState: node.CleanWait, Run: &node.Run{Activity: "clean", Generation: 1},
			Deadline: time.Now().Add(time.Hour)},
	} {
		b.Run(name, func(b *testing.B) { recovers(b, n) })
	}
}

func recovers(b *testing.B, n node.Node) {
	s, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "ferrite.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	const nodes = 10_000
	n.Driver, n.CreatedAt = "fake-hardware", time.Now()
	fill(b, s, n, nodes)
	settings := plan.DefaultSettings()
	settings.ConductorName = "bench"
	if _, err := storetest.Claim(b.Context(), s, settings.ConductorName, time.Now(), time.Hour, 64); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		e := engine.New(core.Config{Store: s, Settings: settings, Log: slog.New(slog.DiscardHandler)})
		if err := e.Recover(b.Context()); err != nil {
			b.Fatal(err)
		}
		if count := e.CountUnowned(); count[n.ProvisionState] != nodes {
			b.Fatalf("it knows of %v", count)
		}
	}
}

// fill makes nodes with a port each. Those at work have a pending effect.
func fill(b *testing.B, s *store.Database, n node.Node, count int) {
	b.Helper()
	for i := range count {
		n.UUID = fmt.Sprintf("6f000000-0000-4000-8000-%012x", i)
		c := node.Change{
			Insert: &n,
			AddPorts: []node.Port{
				{UUID: fmt.Sprintf("6f000000-0000-4000-9000-%012x", i), NodeUUID: n.UUID,
					Address: fmt.Sprintf("52:54:00:00:%02x:%02x", i>>8, i&0xff)},
			},
		}
		if n.ProvisionState.Class() == node.Working {
			c.Effects = []node.Effect{{Node: n.UUID, Generation: 1, Name: "power.validate", RunAt: n.CreatedAt}}
		}
		if _, err := s.Commit(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}
