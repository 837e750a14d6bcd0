package objects

import "context"

// Key names a document. Namespace is empty for those that are in none.
type Key struct{ Kind, Namespace, Name string }

// String is the key as messages have it: "BareMetalHost metal3/node-0".
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Kind + " " + k.Name
	}
	return k.Kind + " " + k.Namespace + "/" + k.Name
}

// Row is a document as a store has it. Doc is not for stores to read.
type Row struct {
	Key
	UID      string
	Revision int64    // of its last write
	Owners   []string // UIDs of the documents it goes with
	Doc      []byte
}

// Write is one row put or removed, if it is still as it was read.
type Write struct {
	Row          // without its Revision, which the store gives
	Expect int64 // the Revision it must have now; 0: there must be no such row
	Delete bool
}

// Query says which rows. Empty fields match everything.
type Query struct {
	Kind      string
	Namespace string
	Name      string
	Owner     string // a UID among Owners
	After     Key    // Namespace and Name: the list starts behind them
	Limit     int
	Bytes     int // of documents, after which a list ends; 0: none
}

// Store keeps rows under one revision that grows by one with every write of
// every row, deletions included.
type Store interface {
	// Objects lists rows in the order of namespace and name (bytes). It returns the revision of the newest write that
	// it has seen.
	Objects(ctx context.Context, q Query) (rows []Row, revision int64, err error)
	// WriteObjects does all writes or none, each under the next revision;
	// ErrStale when one of them meets another row than it expects. When all is
	// safe, and before it returns, it calls done with the revisions, one for each
	// write: done is called in the order of revisions, one call at a time, and
	// must return soon. Events of ctx (node.WithEvents) are committed with the writes.
	WriteObjects(ctx context.Context, writes []Write, done func(revisions []int64)) error
}
