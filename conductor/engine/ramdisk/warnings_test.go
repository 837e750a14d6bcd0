package ramdisk_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// TestStrangersDoNotFloodTheLog: each call that is refused may come from another
// address; of each node one is warned of, and of all nodes not too many.
func TestStrangersDoNotFloodTheLog(t *testing.T) {
	var logged bytes.Buffer
	s := mem.New()
	e := engine.New(core.Config{Store: s, Settings: plan.Settings{ConductorName: "one"},
		Log: slog.New(slog.NewTextHandler(&logged, nil)), RamdiskAuth: core.RamdiskAuth{Leases: true}})
	ask := func(nodes, calls int) {
		for i := range nodes {
			n := node.Node{UUID: fmt.Sprintf("11111111-0000-4000-8000-%012d", i), ProvisionState: node.DeployWait}
			if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err != nil && i > 0 { // the first is there already
				t.Fatal(err)
			}
		}
		for i := range calls {
			from := netip.MustParseAddr(fmt.Sprintf("fd00:%x::1", i))
			uuid := fmt.Sprintf("11111111-0000-4000-8000-%012d", i%nodes)
			if _, token, err := e.Lookup(t.Context(), nil, uuid, node.Caller{From: from}); token != "" || err == nil {
				t.Fatalf("%s is given %q, %v", from, token, err)
			}
		}
	}
	warned := func() int { return strings.Count(logged.String(), "lookup refused") }
	if ask(1, 500); warned() != 1 {
		t.Errorf("%d warnings of one node, want 1", warned())
	}
	if ask(200, 400); warned() != 100 {
		t.Errorf("%d warnings of 200 nodes, want 100", warned())
	}
}
