package node

// Chassis is an enclosure of several nodes.
type Chassis struct {
	Record
	Description string         `json:"description,omitempty"`
	Extra       map[string]any `json:"extra,omitempty"`
}

// Kind returns the name of this kind of record for messages.
func (*Chassis) Kind() string { return "chassis" }

// Keys is nothing: a chassis is known by its UUID alone.
func (*Chassis) Keys() []Key { return nil }

// Check has nothing to refuse.
func (*Chassis) Check() error { return nil }

// Holds names the members of a chassis.
func (*Chassis) Holds() string { return "nodes" }
