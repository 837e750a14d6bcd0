package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// lines are all entries of a store, as a client gets them.
func lines(t *testing.T, s Store) (all []nodeapi.AuditLine) {
	t.Helper()
	found, err := s.Audit(t.Context(), "", 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		all = append(all, nodeapi.AuditLine{ID: e.ID, Chain: e.Chain, Number: e.Number, Hash: e.Hash, Entry: e.Doc})
	}
	return all
}

func verify(all []nodeapi.AuditLine) error {
	var c nodeapi.AuditCheck
	for _, l := range all {
		if err := c.Add(l); err != nil {
			return err
		}
	}
	return nil
}

// TestChains: requests at one time are all written, in one chain for each process, which goes on after the last.
func TestChains(t *testing.T) {
	s := mem.New()
	for life := range 3 {
		r, err := Open(t.Context(), s, "c1", time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if life == 1 { // a write takes effect, and its answer is lost
			s.Fail(mem.Fault{Method: "AppendAudit", Nth: 1, After: true, Err: errors.New("lost")})
			if err := r.Record(nodeapi.AuditEntry{Path: "/lost"}); err == nil {
				t.Error("a lost answer is no error")
			}
		}
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				if err := r.Record(nodeapi.AuditEntry{User: "u", Path: fmt.Sprint("/", i), Node: "n"}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	all := lines(t, s)
	if err := verify(all); err != nil || len(all) != 151 {
		t.Fatalf("%d entries, want 151: %v", len(all), err)
	}
	var first nodeapi.AuditEntry
	if err := json.Unmarshal(all[50].Entry, &first); err != nil || first.Previous == nil || first.Previous.Number != 50 {
		t.Errorf("the second chain begins with %+v, %v", first, err)
	}
	// Every changed or missing entry is found, except entries cut from the end of the last chain.
	for i := range all {
		changed := append([]nodeapi.AuditLine(nil), all...)
		changed[i].Entry = json.RawMessage(strings.Replace(string(changed[i].Entry), `"user":"u"`, `"user":"v"`, 1) + " ")
		if verify(changed) == nil {
			t.Fatalf("a change of entry %d is not found", i)
		}
		if missing := append(append([]nodeapi.AuditLine(nil), all[:i]...), all[i+1:]...); i < 150 && verify(missing) == nil {
			t.Fatalf("that entry %d is missing is not found", i)
		}
	}
}

// TestFull: an entry that cannot be written is an error, and the next one is in its place.
func TestFull(t *testing.T) {
	s := mem.New()
	r, err := Open(t.Context(), s, "c1", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s.Fail(mem.Fault{Method: "AppendAudit", Nth: 1, Err: errors.New("full")})
	if err := r.Record(nodeapi.AuditEntry{Path: "/1"}); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("a full disk: %v", err)
	}
	if err := r.Record(nodeapi.AuditEntry{Path: "/2"}); err != nil {
		t.Fatal(err)
	}
	all := lines(t, s)
	if err := verify(all); err != nil || len(all) != 1 {
		t.Errorf("%d entries: %v", len(all), err)
	}
	if errors.Is(err, node.ErrConflict) {
		t.Error(err)
	}
}

// reserves notes which entries a store may write with the reserve of a full disk.
type reserves struct {
	Store
	done []bool
}

func (s *reserves) AppendAudit(ctx context.Context, entries []node.AuditEntry) error {
	for _, e := range entries {
		s.done = append(s.done, e.Done)
	}
	return s.Store.AppendAudit(ctx, entries)
}

// TestReserveIsForChanges: logins, which write nothing, do not use up the reserve; deletes and undeploys have their
// entries.
func TestReserveIsForChanges(t *testing.T) {
	s := &reserves{Store: mem.New()}
	r, err := Open(t.Context(), s, "c1", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	change := []nodeapi.AuditChange{{Field: "runbook 1", New: "deleted"}}
	for _, tc := range []struct {
		entry nodeapi.AuditEntry
		done  bool
	}{
		{nodeapi.AuditEntry{Method: "POST", Path: nodeapi.SessionPath, Status: 200}, false},
		{nodeapi.AuditEntry{Method: "DELETE", Path: nodeapi.SessionPath, Status: 204}, false},
		{nodeapi.AuditEntry{Method: "DELETE", Path: "/v1/nodes/n", Node: "n", Status: 204}, true},
		{nodeapi.AuditEntry{Method: "PUT", Path: "/v1/nodes/n/states/provision", Node: "n", Status: 202}, true},
		{nodeapi.AuditEntry{Method: "DELETE", Path: "/v1/runbooks/1", Changes: change, Status: 204}, true},
		{nodeapi.AuditEntry{Method: "DELETE", Path: "/v1/nodes/n", Node: "n", Status: 403}, false},
		{nodeapi.AuditEntry{Pruned: []nodeapi.AuditLink{{Chain: "c"}}}, true},
	} {
		s.done = nil
		if err := r.Record(tc.entry); err != nil || !slices.Equal(s.done, []bool{tc.done}) {
			t.Errorf("%s %s %d: %v, %v, want %v", tc.entry.Method, tc.entry.Path, tc.entry.Status, s.done, err, tc.done)
		}
	}
}
