package node

// Chassis is what several nodes are built into.
type Chassis struct {
	Record
	Description string         `json:"description,omitempty"`
	Extra       map[string]any `json:"extra,omitempty"`
}

// Kind is what people call it.
func (*Chassis) Kind() string { return "chassis" }

// Keys is nothing: a chassis is known by its UUID alone.
func (*Chassis) Keys() []Key { return nil }

// Check has nothing to refuse.
func (*Chassis) Check() error { return nil }

// Holds is what is built into it.
func (*Chassis) Holds() string { return "nodes" }
