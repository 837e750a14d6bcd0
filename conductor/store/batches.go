package store

import (
	"context"
	"database/sql"
	"errors"
)

// A list is read a batch at a time. A record may have some 64 KiB in each of its fields. A caller that lists all
// records must not hold them all in memory.
const (
	batchRows  = 64
	batchBytes = 1 << 20 // of documents, after which a batch ends
)

// errBatch ends the reading of a batch.
var errBatch = errors.New("the batch is full")

// batches calls f for the rows that a query of the columns of a recordRow selects, in the order of their ids, until it
// returns false. No connection is held meanwhile. Rows that others write while it runs may be missing.
func (r *reader) batches(ctx context.Context, after int64, sel func() *query, f func(recordRow) bool) error {
	for {
		q := sel()
		q.where("id > ?", after)
		q.add(" ORDER BY id LIMIT ?", batchRows)
		var rows []recordRow
		bytes := 0
		err := r.each(ctx, func(scan *sql.Rows) error {
			var row recordRow
			if err := scan.Scan(row.places()...); err != nil {
				return err
			}
			rows = append(rows, row)
			if bytes += len(row.doc) + len(row.sealed); bytes >= batchBytes {
				return errBatch
			}
			return nil
		}, q.String(), q.values...)
		full := errors.Is(err, errBatch)
		if err != nil && !full {
			return err
		}
		for i := range rows {
			if !f(rows[i]) {
				return nil
			}
			after = rows[i].id
			rows[i] = recordRow{} // it may be long
		}
		if !full && len(rows) < batchRows {
			return nil
		}
	}
}
