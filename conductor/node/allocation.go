package node

// AllocationState is how far an allocation has come, in Ironic's words.
type AllocationState string

// The states of an allocation.
const (
	Allocating       AllocationState = "allocating" // a node is being looked for, also after a restart
	AllocationActive AllocationState = "active"     // NodeUUID is the node
	AllocationError  AllocationState = "error"      // LastError says why there is none
)

// Allocation is a user's request for a node of a kind, and later the node. One Change binds it to its node and saves
// both. While bound, the node's InstanceUUID and AllocationUUID are the allocation's UUID, and the allocation's
// NodeUUID is the node's. It is deleted with its node.
type Allocation struct {
	Record
	Name           string          `json:"name,omitempty"`
	State          AllocationState `json:"state"`
	ResourceClass  string          `json:"resource_class,omitempty"`
	Traits         []string        `json:"traits,omitempty"`          // the node must have them all
	CandidateNodes []string        `json:"candidate_nodes,omitempty"` // UUIDs; none for any node
	Owner          string          `json:"owner,omitempty"`           // only nodes that it owns or has on loan
	Extra          map[string]any  `json:"extra,omitempty"`
	NodeUUID       string          `json:"node_uuid,omitempty"`
	LastError      string          `json:"last_error,omitempty"`
}

// Kind returns the name of this kind of record for messages.
func (*Allocation) Kind() string { return "allocation" }

// Keys are the name, the node, and the columns by which a store can filter a list.
func (a *Allocation) Keys() []Key {
	return []Key{
		named("allocation", a.Name),
		{Column: "node_uuid", Value: a.NodeUUID, Taken: "Node " + a.NodeUUID + " has an allocation already."},
		{Column: "state", Value: string(a.State)},
		{Column: "owner", Value: a.Owner},
	}
}

// Check finds nothing to refuse: any wish may be granted one day.
func (*Allocation) Check() error { return nil }

// Released is the allocation that a node had as old and, saved as n, no longer
// has: it has to be dropped in the same Change. "" for none.
func Released(old, n Node) string {
	if old.AllocationUUID == n.AllocationUUID {
		return ""
	}
	return old.AllocationUUID
}
