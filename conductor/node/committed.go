package node

import "time"

// Committed is a change that the store has taken.
type Committed struct {
	*Change
	Saved   Node // as it is stored now; of a deleted node the UUID alone, zero where no node was written
	Decided time.Time
	User    string         // the user of the change; "" for none
	Project string         // of that user; "" for none
	Read    bool           // Saved was read, and nothing was written; the change is empty
	Record  *RecordWritten // set for a write of a catalog; its change has only Events
}

// RecordWritten is a write of a catalog. Written is created, updated or deleted.
type RecordWritten struct{ Kind, UUID, Name, Written string }

// Wrote reports whether a node was saved or inserted.
func (c *Committed) Wrote() bool { return c.Save != nil || c.Insert != nil }
