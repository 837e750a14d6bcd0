package node

// Usage is what the records of one project take: their number by kind, as their table is called, and UsageBytes of all
// together.
type Usage map[string]int64

// UsageBytes are the bytes of all records of a project.
const UsageBytes = "bytes"
