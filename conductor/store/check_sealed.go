package store

import (
	"github.com/ferrite-metal/ferrite/conductor/seal"
)

// checkKey names a key that rows are sealed with and that was not given: one fault, and
// not one for each row.
func checkKey(c *checker, r checkedRow) {
	id, err := seal.ParseID(r.key)
	if err != nil {
		c.fault(r.table, r.key, "the id of a key", err, restore)
		return
	}
	if c.o.Keys != nil && c.o.Keys.Holds(id) {
		return
	}
	c.absent[id] = true
	if c.o.Keys != nil {
		c.fault(r.table, r.key, "the key of secrets with this id", "the one with the id "+c.o.Keys.Current().String(),
			"restore the key of the same backup as the database")
	}
}

// sealed opens the sealed values of a row. Rows of a key that was not given are counted.
func (c *checker) sealed(r checkedRow, open func(s sealer, envelope []byte) error) {
	envelope := []byte(r.text("sealed"))
	if len(envelope) == 0 {
		return
	}
	if id, err := seal.KeyOf(envelope); err == nil && c.absent[id] {
		c.done.Unopened++
		return
	}
	if err := open(sealer{c.o.Keys}, envelope); err != nil {
		c.fault(r.table, r.key, "sealed values that its key opens", err, restore)
	}
}
