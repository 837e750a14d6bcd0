package hostapi

// Event is an event of a document, as `kubectl describe` lists it. Events are no Kinds: only the conductor writes
// them.
type Event struct {
	TypeMeta
	ObjectMeta `json:"metadata"`

	InvolvedObject ObjectReference `json:"involvedObject"`
	Type           string          `json:"type"` // EventNormal or EventWarning
	Reason         string          `json:"reason"`
	Message        string          `json:"message"`
	Count          int             `json:"count"` // how often, between the two times
	FirstTimestamp Time            `json:"firstTimestamp"`
	LastTimestamp  Time            `json:"lastTimestamp"`
	Source         EventSource     `json:"source"`
}

// EventSource is the component that reports an event.
type EventSource struct {
	Component string `json:"component"`
}

// KindEvent is the kind of events.
const KindEvent = "Event"

// Types of events.
const (
	EventNormal  = "Normal"
	EventWarning = "Warning"
)
