package store

import (
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// A node's ports are read whole by each decision on it, and so are its portgroups and volumes: this is more than a
// machine has, and little enough to be held.
const (
	maxParts      = 256     // of one kind
	maxPartsBytes = 4 << 20 // of one kind, as they are stored
)

// storedBytes is the SQL expression for the size of a record with its sealed part.
func storedBytes(table string) string {
	if table != "nodes" && !slices.Contains(sealedCatalogs, table) {
		return "octet_length(doc)"
	}
	return "octet_length(doc) + coalesce(octet_length(sealed), 0)"
}

// boundParts refuses a record of a node, uuid with size bytes in table, that makes its records of this kind more than a
// node may have. Those that were more before may be edited, and become fewer.
func (t *tx) boundParts(table, kind, nodeUUID, uuid string, size int) error {
	var count, bytes, same, old int64
	stored := storedBytes(table)
	err := t.query(func(scan func(...any) error) error { return scan(&count, &bytes, &same, &old) },
		"SELECT count(*), CAST(coalesce(sum("+stored+"), 0) AS BIGINT), count(CASE WHEN uuid = ? THEN 1 END), "+
			"CAST(coalesce(sum(CASE WHEN uuid = ? THEN "+stored+" END), 0) AS BIGINT) FROM "+table+
			" WHERE node_uuid = ?", uuid, uuid, nodeUUID)
	switch {
	case err != nil:
		return err
	case same == 0 && count >= maxParts:
		return node.Refuse(node.Invalid, "Node %s has %d %ss, which is as many as a node may have; delete some of them "+
			"first.", nodeUUID, count, kind)
	case bytes-old+int64(size) > maxPartsBytes && int64(size) > old:
		return node.Refuse(node.Invalid, "The %ss of node %s would have %d bytes, at most %d are taken; keep less in their "+
			"extra.", kind, nodeUUID, bytes-old+int64(size), maxPartsBytes)
	}
	return nil
}
