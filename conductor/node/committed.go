package node

import "time"

// Committed is a change that the store has taken.
type Committed struct {
	*Change
	Saved   Node // as it is stored now; of a deleted node the UUID alone, zero where no node was written
	Decided time.Time
	User    string         // for whom; "" for nobody
	Project string         // of that user; "" for none
	Record  *RecordWritten // by a catalog, whose change has Events alone; nil for none
}

// RecordWritten is a write of a catalog. Written is created, updated or deleted.
type RecordWritten struct{ Kind, UUID, Name, Written string }

// Wrote reports whether a node was saved or inserted.
func (c *Committed) Wrote() bool { return c.Save != nil || c.Insert != nil }
