package node

import "encoding/json"

// EraseReport is a machine's report of an erase, or the record that none came, signed by the conductor. It stays when
// the node is deleted: it proves the state of the disks.
type EraseReport struct {
	Record
	NodeUUID  string `json:"node_uuid"`
	NodeName  string `json:"node_name,omitempty"` // at that time
	Failed    bool   `json:"failed,omitempty"`    // the step has failed: not all disks were erased
	Payload   []byte `json:"payload"`             // the signed bytes: the JSON of a nodeapi.EraseStatement
	Signature []byte `json:"signature"`

	// Report is the JSON of an agentapi.EraseReport that is to be signed. It is
	// not stored: from then on it is in Payload.
	Report json.RawMessage `json:"-"`
}

// EraseReportsKept is how many reports of a node are kept; older ones go when new
// ones come. A node that is cleaned twice a week has two years of them.
const EraseReportsKept = 200

// MaxEraseReport bounds one report, in bytes. A disk has some 600.
const MaxEraseReport = 256 << 10

// EraseReportQuery selects erase reports.
type EraseReportQuery struct {
	NodeUUID string // "" for all, also of nodes that are no more
	Project  string // of the node's owner or lessee; a deleted node has neither
	Desc     bool   // the newest first
	Marker   string // UUID of the report after which the page starts
	Limit    int    // 0 for all
}

// Kind returns the name of this kind of record for messages.
func (*EraseReport) Kind() string { return "erase report" }

// Keys is the node; the column has a name of its own, since the report outlives
// the node.
func (r *EraseReport) Keys() []Key { return []Key{{Column: "of_node", Value: r.NodeUUID}} }

// Check refuses a report without a signature.
func (r *EraseReport) Check() error {
	if len(r.Payload) == 0 || len(r.Signature) == 0 {
		return Refuse(Invalid, "An erase report must be signed.")
	}
	return nil
}
