package node

import (
	"encoding/json"
	"time"
)

// RefusedRequest identifies a kind of refused request.
type RefusedRequest struct {
	Sender   string // a user, an account that a login failed for, or an address
	Stranger bool   // the sender is an address
	Kind     string // the request, and the answer
}

// AuditEntry is a line of the audit. Doc is a JSON object, as nodeapi.AuditEntry.
type AuditEntry struct {
	ID     int64 // ascending; the store's
	At     time.Time
	Writer string // the conductor
	Chain  string // of this process of it
	Number int64  // in the chain, from 1 on
	Hash   string // over the previous hash and this entry
	Node   string // UUID; "" for none
	Doc    json.RawMessage
	Done   bool // the request was done and wrote something; not stored
}

// AuditLife is the time from the first to the last entry of one process of a conductor, by that process's clock.
type AuditLife struct{ From, Until time.Time }

// AuditCut is the newest entry of a conductor that was deleted, or is to be.
type AuditCut struct {
	Writer string
	ID     int64 // of the entry
	Chain  string
	Number int64
	Hash   string
	Done   bool // entries up to it may be deleted
}
