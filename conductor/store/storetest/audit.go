package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

func testAudit(t *testing.T, s store.Store) {
	at := time.UnixMicro(1700000000000000).UTC()
	entry := func(chain string, number int64, of string) node.AuditEntry {
		return node.AuditEntry{At: at, Writer: "w" + chain, Chain: chain, Number: number, Hash: "h", Node: of,
			Doc: []byte(`{"path":"\u0000<&>"}`)}
	}
	a1, a2, b1 := entry("a", 1, "n"), entry("a", 2, ""), entry("b", 1, "n")
	if _, found, err := s.LastAudit(t.Context(), "wa"); found || err != nil {
		t.Fatalf("the last of none: %v, %v", found, err)
	}
	if err := s.AppendAudit(t.Context(), []node.AuditEntry{a1, b1}); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendAudit(t.Context(), []node.AuditEntry{a2, b1}); !errors.Is(err, node.ErrConflict) {
		t.Errorf("a number twice: %v", err)
	}
	if err := s.AppendAudit(t.Context(), []node.AuditEntry{a2}); err != nil {
		t.Fatal(err)
	}
	list := func(of string, after int64, limit int) []node.AuditEntry {
		t.Helper()
		all, err := s.Audit(t.Context(), of, after, limit)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	all := list("", 0, 10)
	if len(all) != 3 {
		t.Fatalf("%d entries, want 3", len(all))
	}
	for i, want := range []node.AuditEntry{a1, b1, a2} {
		want.ID = all[i].ID
		if diff := cmp.Diff(want, all[i]); diff != "" {
			t.Errorf("entry %d (-want +got):\n%s", i, diff)
		}
	}
	if of := list("n", 0, 10); len(of) != 2 || of[1].Chain != "b" {
		t.Errorf("of a node: %+v", of)
	}
	if rest := list("", all[0].ID, 1); len(rest) != 1 || rest[0].ID != all[1].ID {
		t.Errorf("a page: %+v", rest)
	}
	if last, found, err := s.LastAudit(t.Context(), "wa"); last.Number != 2 || !found || err != nil {
		t.Errorf("the last: %+v, %v, %v", last, found, err)
	}
}
