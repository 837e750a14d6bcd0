package node

import (
	"context"
	"strings"
	"time"
)

// Record is the common part of the records of all catalogs: deploy templates, runbooks and the like, which operators
// write beside nodes. Types embed it.
type Record struct {
	UUID      string     `json:"uuid"`
	Revision  int64      `json:"revision"` // grows by one with every save
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt *time.Time `json:"updated_at,omitempty"`
}

// Head is that common part.
func (r *Record) Head() *Record { return r }

// Recorded describes a type of records.
type Recorded[T any] interface {
	*T
	Head() *Record
	// Kind returns the name of this kind of record for messages: "deploy template".
	Kind() string
	// Keys are always the same columns, in the same order.
	Keys() []Key
	// Check refuses a record that contradicts itself.
	Check() error
}

// Holder is a type of records that can be named elsewhere: by nodes, by ports. A named
// record must exist, and cannot be deleted (a Refusal either way).
type Holder interface {
	// Holds names the records that refer to such a record, for messages: "ports".
	Holds() string
}

// Key is a value by which a record is found besides its UUID: a column of its table. The column "name" is accepted
// wherever a UUID is. The column "node_uuid" names a node that must exist; the record is deleted with it.
type Key struct {
	Column string
	Value  string // "" for none, which any number may have
	// Taken is the error text when another record has the value; "" where records may share
	// it.
	Taken string
}

// named is the key of records that have a name of their own.
func named(kind, name string) Key {
	return Key{Column: "name", Value: name, Taken: Exists(kind, "name", name)}
}

// Exists words that a value is another record's: "An allocation with name x
// already exists."
func Exists(kind, what, value string) string {
	article := "A"
	if strings.ContainsAny(kind[:1], "aeiou") {
		article = "An"
	}
	return article + " " + kind + " with " + what + " " + value + " already exists."
}

// Catalog keeps the records of one type, few in number. Errors match
// ErrNotFound, ErrConflict and ErrStale; the first two are also *Refusal, in
// words meant for the client.
type Catalog[T any] interface {
	// List returns records in the order of creation: all for column "", else the records with one of these values as
	// their key in the column. With an UnreadableError it returns the records that can be decoded.
	List(ctx context.Context, column string, values ...string) ([]T, error)
	// Each calls f for the records that List would return, a few in memory at a time, until
	// f returns false.
	Each(ctx context.Context, q RecordQuery, f func(*T) bool) error
	// Find finds a record by UUID or name.
	Find(ctx context.Context, ref string) (T, error)
	// Insert adds a record and returns it with its revision; ErrConflict on a
	// taken UUID or key, ErrNotFound on a node that does not exist.
	Insert(ctx context.Context, v T) (T, error)
	// Save replaces the record of v's UUID, when it is still of v's revision
	// (ErrStale), and returns it with its new one.
	Save(ctx context.Context, v T) (T, error)
	// Delete removes a record by UUID; not a Holder's that is named.
	Delete(ctx context.Context, uuid string) error
}

// RecordQuery chooses records of a catalog.
type RecordQuery struct {
	Column string   // a key of the records; "" for all records
	Values []string // of which theirs is one
	After  string   // UUID of a record that must exist: those created after it; "" for all
}

// Catalogs is a catalog for each type of record.
type Catalogs struct {
	DeployTemplates  Catalog[DeployTemplate]
	Runbooks         Catalog[Runbook]
	Allocations      Catalog[Allocation]
	Chassis          Catalog[Chassis]
	Portgroups       Catalog[Portgroup]
	VolumeConnectors Catalog[VolumeConnector]
	VolumeTargets    Catalog[VolumeTarget]
	InspectionRules  Catalog[InspectionRule]
	EraseReports     Catalog[EraseReport]
	Images           Catalog[Image]
}
