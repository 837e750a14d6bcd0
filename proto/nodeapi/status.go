package nodeapi

import "time"

// Status answers GET /ferrite/v1/nodes/{node}/status: the node's activity, the event it waits for, since when, until
// when, and the next thing to try.
type Status struct {
	Node   string `json:"node"` // UUID
	Name   string `json:"name,omitempty"`
	State  string `json:"state"`
	Target string `json:"target,omitempty"`

	Maintenance       bool   `json:"maintenance,omitempty"`
	MaintenanceReason string `json:"maintenance_reason,omitempty"`
	Fault             string `json:"fault,omitempty"` // reason for maintenance by the conductor

	Power       string `json:"power_state,omitempty"`
	TargetPower string `json:"target_power_state,omitempty"` // of a change that is under way
	// the last good read; absent when there was none since the conductor started
	PowerReadAt time.Time `json:"power_read_at,omitzero"`

	Activity string   `json:"activity,omitempty"` // verify, inspect, clean, deploy, delete, power
	Step     string   `json:"step,omitempty"`     // the one being done, interface.step
	Steps    []string `json:"steps,omitempty"`
	Index    int      `json:"index"` // of Step in Steps

	Since        time.Time `json:"since,omitzero"` // of the activity
	WaitingFor   string    `json:"waiting_for,omitempty"`
	Warnings     []string  `json:"warnings,omitempty"`     // of the check before the activity
	WaitingSince time.Time `json:"waiting_since,omitzero"` // absent while the conductor itself is at work
	Until        time.Time `json:"until,omitzero"`         // when waiting becomes a failure

	BootStages    []Stage   `json:"boot_stages,omitempty"`
	Progress      *Progress `json:"progress,omitempty"`
	LastHeartbeat time.Time `json:"last_heartbeat,omitzero"`
	LastError     string    `json:"last_error,omitempty"`
	Try           string    `json:"try,omitempty"`
}

// Statuses are the statuses of several nodes, by the names they were asked for. Those that do not exist are in Missing,
// and so are those that the caller may not see.
type Statuses struct {
	Nodes   map[string]Status `json:"nodes"`
	Missing []string          `json:"missing"`
}

// MaxStatuses is how many nodes may be named in one request for Statuses.
const MaxStatuses = 100

// Stage is one stage of the boot that was seen: DHCP offer, TFTP, iPXE script,
// kernel, ramdisk, lookup, heartbeat.
type Stage struct {
	Name   string    `json:"name"`
	Detail string    `json:"detail,omitempty"`
	At     time.Time `json:"at"`
}

// Progress is how far a step has come. Done and Total are bytes, Total 0 when
// unknown; Rate is bytes per second; ETA is seconds.
type Progress struct {
	Step  string    `json:"step"`
	Stage string    `json:"stage,omitempty"`
	Done  int64     `json:"done"`
	Total int64     `json:"total"`
	Rate  float64   `json:"rate"`
	ETA   float64   `json:"eta"`
	At    time.Time `json:"at"`
}
