package node

// Usage is the size of one project's records: their number by kind, named as their table, and UsageBytes of all
// together.
type Usage map[string]int64

// UsageBytes are the bytes of all records of a project.
const UsageBytes = "bytes"
