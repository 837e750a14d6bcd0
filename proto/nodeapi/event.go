package nodeapi

// Event is one line of GET /ferrite/v1/events: a committed change, or a passing occurrence.
type Event struct {
	Cursor    string `json:"cursor,omitempty"` // a reader goes on after it; "" for a passing occurrence
	Type      string `json:"type"`             // node.created, node.state, boot.stage and so on
	At        string `json:"at"`
	Conductor string `json:"conductor,omitempty"`
	User      string `json:"user,omitempty"` // sender of the request; "" for changes without a request
	Project   string `json:"project,omitempty"`

	Node     *EventNode        `json:"node,omitempty"`
	Changed  []string          `json:"changed,omitempty"` // fields of the node that differ
	Moves    []EventMove       `json:"moves,omitempty"`
	Power    *EventPower       `json:"power_change,omitempty"`
	Notes    []EventNote       `json:"notes,omitempty"`
	Ports    map[string]string `json:"ports,omitempty"` // added, changed or dropped, by UUID
	Record   *EventRecord      `json:"record,omitempty"`
	Document *EventDocument    `json:"document,omitempty"` // of host and document events
	Stage    *EventStage       `json:"stage,omitempty"`    // of boot.stage
	Progress *EventProgress    `json:"progress,omitempty"` // of step.progress
}

// EventNode is a node as it is after the change.
type EventNode struct {
	UUID        string `json:"uuid"`
	Name        string `json:"name,omitempty"`
	Revision    int64  `json:"revision,omitempty"`
	State       string `json:"provision_state,omitempty"`
	Target      string `json:"target_provision_state,omitempty"`
	Power       string `json:"power_state,omitempty"`
	Maintenance bool   `json:"maintenance"`
	Fault       string `json:"fault,omitempty"`
	Error       string `json:"last_error,omitempty"`
	Class       string `json:"resource_class,omitempty"`
	Instance    string `json:"instance_uuid,omitempty"`
	Group       string `json:"conductor_group,omitempty"`
	Driver      string `json:"driver,omitempty"`
	Step        string `json:"step,omitempty"` // under way
}

// EventMove is a row of the table of states.
type EventMove struct {
	From string `json:"from"`
	On   string `json:"on"`
	To   string `json:"to"`
}

// EventPower is a change of the power state.
type EventPower struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// EventNote is a line of a node's history.
type EventNote struct {
	Severity string `json:"severity"`
	Activity string `json:"activity,omitempty"`
	Text     string `json:"text"`
}

// EventRecord is a change of another record than a node: an allocation, a runbook.
type EventRecord struct {
	Kind     string `json:"kind"`
	UUID     string `json:"uuid"`
	Name     string `json:"name,omitempty"`
	Revision int64  `json:"revision,omitempty"`
}

// EventDocument is a document as it is after the change: a BareMetalHost, or a document of another kind for it.
type EventDocument struct {
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Generation int64  `json:"generation,omitempty"`
	State      string `json:"provisioning_state,omitempty"`
	Error      string `json:"error,omitempty"`
}

// EventStage is how far a machine has come on its way into the ramdisk.
type EventStage struct {
	Name   string `json:"name"`
	Detail string `json:"detail,omitempty"`
}

// EventProgress is how far a step is, in bytes; a total of 0 is unknown.
type EventProgress struct {
	Step  string `json:"step"`
	Stage string `json:"stage"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
}

// EventStreamEnded is the type of the last event of a stream that gave its place to another reader. Its note names the
// reason.
const EventStreamEnded = "stream.ended"

// MediaEvents is the media type of server-sent events.
const MediaEvents = "text/event-stream"
