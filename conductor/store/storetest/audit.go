package storetest

import (
	"errors"
	"fmt"
	"slices"
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
	if entries, size, err := s.AuditSize(t.Context()); entries != 3 || size != int64(3*len(a1.Doc)) || err != nil {
		t.Errorf("%d entries of %d bytes, %v", entries, size, err)
	}
}

// testAuditPrune: entries before a cut go, once the audit names the cut; the newest old entry of a conductor stays.
func testAuditPrune(t *testing.T, s store.Store) {
	at := time.UnixMicro(1700000000000000).UTC()
	var all []node.AuditEntry
	for i := range 5 {
		all = append(all, node.AuditEntry{At: at.Add(time.Duration(i) * time.Hour), Writer: "w", Chain: "a",
			Number: int64(i + 1), Hash: fmt.Sprint("h", i+1), Doc: []byte("{}")})
	}
	other := all[0]
	other.Writer, other.Chain = "v", "b"
	if err := s.AppendAudit(t.Context(), append(all, other)); err != nil {
		t.Fatal(err)
	}
	cuts := func(before time.Time) []node.AuditCut {
		t.Helper()
		found, err := s.AuditCuts(t.Context(), before)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := cuts(at); len(found) != 0 {
		t.Errorf("cuts of nothing: %+v", found)
	}
	found := cuts(at.Add(3 * time.Hour)) // 1, 2 and 3 are older, and 3 stays
	if len(found) != 1 || found[0].Number != 2 || found[0].Hash != "h2" || found[0].Done {
		t.Fatalf("the cuts are %+v, want entry 2", found)
	}
	if n, err := s.PruneAudit(t.Context()); n != 0 || err != nil {
		t.Errorf("%d entries were deleted without a cut, %v", n, err)
	}
	stub := node.AuditEntry{At: at.Add(5 * time.Hour), Writer: "w", Chain: "a", Number: 6, Hash: "h6",
		Doc: []byte(`{"hash":"h2"}`)}
	if err := s.AppendAudit(t.Context(), []node.AuditEntry{stub}); err != nil {
		t.Fatal(err)
	}
	if err := s.CutAudit(t.Context(), "a", 6, found); err != nil {
		t.Fatal(err)
	}
	if n, err := s.PruneAudit(t.Context()); n != 2 || err != nil {
		t.Errorf("%d entries were deleted, want 2; %v", n, err)
	}
	if n, err := s.PruneAudit(t.Context()); n != 0 || err != nil {
		t.Errorf("%d entries were deleted after all, %v", n, err)
	}
	left, err := s.Audit(t.Context(), "", 0, 10)
	if err != nil || len(left) != 5 || left[0].Number != 3 {
		t.Errorf("left: %+v, %v", left, err)
	}
	if found = cuts(at.Add(3 * time.Hour)); len(found) != 1 || !found[0].Done || found[0].Number != 2 {
		t.Errorf("after it the cuts are %+v", found)
	}
	lives, err := s.AuditLives(t.Context())
	slices.SortFunc(lives, func(a, b node.AuditLife) int { return a.From.Compare(b.From) })
	want := []node.AuditLife{{From: at, Until: at}, {From: at.Add(2 * time.Hour), Until: stub.At}}
	if diff := cmp.Diff(want, lives); diff != "" || err != nil {
		t.Errorf("lives (-want +got):\n%s%v", diff, err)
	}
	if entries, size, err := s.AuditSize(t.Context()); entries != 5 || size != 8+int64(len(stub.Doc)) || err != nil {
		t.Errorf("%d entries of %d bytes are left, %v", entries, size, err)
	}
}
