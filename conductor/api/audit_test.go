package api

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// counted is an audit that counts.
type counted struct {
	Audit
	entries []nodeapi.AuditEntry
}

func (c *counted) Record(e nodeapi.AuditEntry) error {
	c.entries = append(c.entries, e)
	return nil
}

func (c *counted) Refused(_ node.RefusedRequest, e nodeapi.AuditEntry, _ func(nodeapi.AuditEntry, error)) error {
	return c.Record(e)
}

// TestAuditRateOfUser: a user with too many entries in a short time is refused, others are not. No text of an entry is
// long.
func TestAuditRateOfUser(t *testing.T) {
	kept := &counted{}
	a := newAuditor(kept, nil)
	blue, red := &auth.Caller{User: "blue", Project: "p"}, &auth.Caller{User: "red", Project: "p"}
	long := strings.Repeat("Ä", 30_000)
	for range 2 {
		a.Asked(t.Context(), rest.Asked{Method: "PATCH", Path: "/v1/nodes/" + long, Request: long, Status: 200,
			Who: auth.Note{Caller: blue, Account: long}})
	}
	e := kept.entries[0]
	if len(e.Path)+len(e.Account)+len(e.Request) > 6*maxText+20 || !strings.HasSuffix(e.Path, "...") {
		t.Errorf("an entry is not cut: path %d, account %d, request %d bytes", len(e.Path), len(e.Account), len(e.Request))
	}
	if err := a.Admit(blue); err != nil {
		t.Fatal(err)
	}
	a.users.Count(userKey(blue), entriesBurst)
	var fault *nodeapi.Fault
	if err := a.Admit(blue); !errors.As(err, &fault) || fault.Status != http.StatusTooManyRequests {
		t.Errorf("after %d bytes: %v", entriesBurst, err)
	}
	if err := a.Admit(red); err != nil {
		t.Errorf("another user: %v", err)
	}
}

const maxText = 256 // characters of a text of an entry

// TestRefusedOf: a failed login of a known account counts for the account, any other for strangers.
func TestRefusedOf(t *testing.T) {
	ask := func(who auth.Note) node.RefusedRequest {
		return refusedOf(rest.Asked{Method: "GET", Route: "/v1/nodes", Status: 401, Who: who})
	}
	if of := ask(auth.Note{Account: "mallory"}); !of.Stranger {
		t.Errorf("an unknown account: %+v", of)
	}
	if of := ask(auth.Note{Account: "alice", Known: true}); of.Stranger || !strings.Contains(of.Sender, "alice") {
		t.Errorf("a known account: %+v", of)
	}
	if of := ask(auth.Note{Caller: &auth.Caller{User: "olga", Project: "p"}}); of.Stranger ||
		!strings.Contains(of.Sender, "olga") {
		t.Errorf("a user: %+v", of)
	}
}
