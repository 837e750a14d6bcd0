package nodeapi

import "time"

// Calls is the latest requests that the conductor has sent to a machine: GET /ferrite/v1/nodes/NODE/calls. Only
// activities count; readings of the power between them do not. A restart forgets them.
type Calls struct {
	Node  string `json:"node"`
	Calls []Call `json:"calls"` // the oldest first
}

// Call is one request to a BMC or an agent, without its content and its answer.
type Call struct {
	ID       uint64    `json:"id"`
	At       time.Time `json:"at"`
	Seconds  float64   `json:"seconds"`  // until the answer
	Protocol string    `json:"protocol"` // redfish, ipmi or agent
	Name     string    `json:"name"`     // method and path, or command
	Server   string    `json:"server"`
	Status   int       `json:"status,omitempty"` // of HTTP; 0 where no answer came, and for IPMI
	Error    string    `json:"error,omitempty"`
	Note     string    `json:"note,omitempty"` // oddity of the answer
	Effect   string    `json:"effect"`         // for which it was sent, as power.power_off
}
