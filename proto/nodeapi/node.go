package nodeapi

// Node holds the fields of a node that our clients read. ?fields= selects them; the whole answer has some sixty more,
// and a client that shows them keeps them as raw JSON.
type Node struct {
	UUID                 string         `json:"uuid"`
	Name                 string         `json:"name"`
	ProvisionState       string         `json:"provision_state"`
	TargetProvisionState string         `json:"target_provision_state"`
	PowerState           string         `json:"power_state"`
	TargetPowerState     string         `json:"target_power_state"`
	LastError            string         `json:"last_error"`
	Reservation          string         `json:"reservation"` // the conductor that works on it
	Maintenance          bool           `json:"maintenance"`
	MaintenanceReason    string         `json:"maintenance_reason"`
	Fault                string         `json:"fault"`
	Properties           map[string]any `json:"properties"`
}

// Label is the node's name for people: its name, else its UUID.
func (n Node) Label() string {
	if n.Name != "" {
		return n.Name
	}
	return n.UUID
}

// NodeList is one page of GET /v1/nodes.
type NodeList struct {
	Nodes []Node `json:"nodes"`
}

// Patch is one operation of RFC 6902 as far as Ironic takes it: add, replace,
// remove.
type Patch struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}
