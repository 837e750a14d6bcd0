package node

// Usage is what the records of one project take: their number by kind (see UsageKinds), and UsageBytes of all together.
type Usage map[string]int64

// UsageBytes are the bytes of all records of a project.
const UsageBytes = "bytes"

// UsageKinds are the kinds of records that count for a project, by their tables: those of its nodes, and its own.
func UsageKinds() (ofNodes, own []string) {
	return []string{"ports", "portgroups", "volume_connectors", "volume_targets"},
		[]string{"allocations", "runbooks", "images"}
}
