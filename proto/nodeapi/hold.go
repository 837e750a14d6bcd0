package nodeapi

import "time"

// HoldPath reports whether a restored conductor still acts on no machine, and its first actions: GET; PUT HoldEnd ends
// it.
const HoldPath = FerriteRoot + "/hold"

// Hold is the answer. Without a hold all but Held is empty.
type Hold struct {
	Held   bool       `json:"held"`
	Since  *time.Time `json:"since,omitempty"`
	Backup *time.Time `json:"backup,omitempty"` // when the backup was taken
	// Unread is how many nodes' power was not read since the start of the conductor.
	Unread int        `json:"unread"`
	Nodes  []HeldNode `json:"nodes"`
}

// HeldNode is a node of which the restore means something.
type HeldNode struct {
	UUID           string     `json:"uuid"`
	Name           string     `json:"name"`
	ProvisionState string     `json:"provision_state"`
	PowerState     string     `json:"power_state"` // on record
	PowerNow       string     `json:"power_now"`   // as its BMC says; "" when it has not said
	PowerReadAt    *time.Time `json:"power_read_at,omitempty"`
	Effect         string     `json:"effect"`  // first effect without the hold; "" for none
	AtWork         bool       `json:"at_work"` // it would go on with something
	Dangerous      bool       `json:"dangerous"`
	Findings       []string   `json:"findings"`
}

// HoldEnd ends the hold. The work of the nodes in Abandon, UUIDs or names, is ended first and not gone on with.
type HoldEnd struct {
	Held    bool     `json:"held"`
	Abandon []string `json:"abandon"`
}
