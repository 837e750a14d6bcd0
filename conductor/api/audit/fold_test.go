package audit

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// refusals sends refused requests to a recorder.
type refusals struct {
	*Recorder
	t *testing.T
}

func (r refusals) send(of node.RefusedRequest, path string) {
	r.t.Helper()
	lost := func(_ nodeapi.AuditEntry, err error) { r.t.Error(err) }
	if err := r.Refused(of, nodeapi.AuditEntry{Path: path, Status: 404}, lost); err != nil {
		r.t.Fatal(err)
	}
}

// entries are all entries, verified.
func entries(t *testing.T, s Store) (all []nodeapi.AuditEntry) {
	t.Helper()
	found := lines(t, s)
	if err := verify(found); err != nil {
		t.Error(err)
	}
	for _, l := range found {
		var e nodeapi.AuditEntry
		if err := json.Unmarshal(l.Entry, &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// TestRefusalsFold: one kind of refused requests has an entry a minute, which counts them.
func TestRefusalsFold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		r := refusals{open(t, s), t}
		of := node.RefusedRequest{Sender: "user blue", Kind: "DELETE /v1/nodes/:node 404"}
		for i := range 10 * 60 * 2 { // two a second for ten minutes
			r.send(of, fmt.Sprint("/v1/nodes/", i))
			time.Sleep(500 * time.Millisecond)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		total := 0
		all := entries(t, s)
		for _, e := range all {
			total += 1 + e.Omitted
		}
		if len(all) < 10 || len(all) > 12 || total != 10*60*2 {
			t.Errorf("%d entries count %d requests, want some 11 for 1200", len(all), total)
		}
		if len(r.folds.kinds)+len(r.folds.of) != 0 {
			t.Errorf("kept after the flood: %v, %v", r.folds.kinds, r.folds.of)
		}
		r.send(of, "/again")
		if all = entries(t, s); all[len(all)-1].Path != "/again" {
			t.Error("the first request after a flood has no entry at once")
		}
	})
}

// TestFloodHidesNobody: a flood makes a bounded number of entries, by strangers from many addresses or by users with
// many kinds. A failed login of a known account is still seen.
func TestFloodHidesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		r := refusals{open(t, s), t}
		sent := 0
		for i := range 5000 {
			r.send(node.RefusedRequest{Sender: fmt.Sprint("10.0.0.", i%1000), Stranger: true, Kind: fmt.Sprint(i)}, "/flood")
			r.send(node.RefusedRequest{Sender: "user blue", Kind: fmt.Sprint(i)}, "/kinds")
			sent += 2
		}
		r.send(node.RefusedRequest{Sender: "account alice", Kind: "10.9.9.9 GET /v1/nodes 401"}, "/alice")
		all := entries(t, s)
		if last := all[len(all)-1]; last.Path != "/alice" || len(all) > strangerKinds+senderKinds+4 {
			t.Errorf("%d entries; the last is %+v", len(all), last)
		}
		r.Close(func(_ nodeapi.AuditEntry, err error) { t.Error(err) })
		total, notes := 0, map[string]bool{}
		for _, e := range entries(t, s) {
			total += 1 + e.Omitted
			notes[e.Note] = true
		}
		if total != sent+1 || len(notes) != 3 {
			t.Errorf("the entries count %d requests, want %d; notes %v", total, sent+1, notes)
		}
	})
}

func open(t *testing.T, s Store) *Recorder {
	t.Helper()
	r, err := Open(t.Context(), s, "c1", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
