package node

import "time"

// Step is one thing to do, by name. A plan is a list of steps, so it can be
// printed, compared and tested.
type Step struct {
	Interface string         `json:"interface"`
	Step      string         `json:"step"`
	Args      map[string]any `json:"args,omitempty"`
	Priority  int            `json:"priority,omitempty"`
	InBand    bool           `json:"in_band,omitempty"` // done by the agent
	Driver    bool           `json:"driver,omitempty"`  // done by the BMC driver
	Abortable bool           `json:"abortable,omitempty"`
	Reboot    bool           `json:"reboot_requested,omitempty"`
	// OnChildren has the child nodes do the step instead: Children, or all if it is empty.
	OnChildren bool     `json:"execute_on_child_nodes,omitempty"`
	Children   []string `json:"limit_child_node_execution,omitempty"`
	// From is the record that brought the step, for errors: deploy template NAME
	// or runbook NAME; "" for a step of the conductor or of a request.
	From string `json:"from,omitempty"`
}

// Framework is a part of a node's life that has steps of its own.
type Framework string

// The frameworks, as Ironic names them.
const (
	VerifySteps  Framework = "verify"
	CleanSteps   Framework = "clean"
	DeploySteps  Framework = "deploy"
	ServiceSteps Framework = "service"
)

// StepOffer is a step that a BMC driver can do, out of band.
type StepOffer struct {
	Interface string
	Step      string
	// Priority by framework: 0 is done only when asked for, a framework that
	// is not named does not have the step.
	Priority  map[Framework]int
	Args      map[string]StepArg
	Abortable bool
	// NeedsNoRamdisk: it may run on a machine without an agent.
	NeedsNoRamdisk bool
	// Refusal is the reason why the step cannot be requested on this conductor; "" for a step that can.
	Refusal string
}

// StepArg describes one argument of an offered step, for people and for the
// check that precedes a run.
type StepArg struct {
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// AgentSteps is the steps of one framework, as a node's agent listed them last.
type AgentSteps struct {
	At       time.Time         `json:"at"`
	Versions map[string]string `json:"versions,omitempty"` // of its hardware managers, by their names
	Steps    []AgentStep       `json:"steps,omitempty"`
}

// AgentStep is a step that an agent has listed.
type AgentStep struct {
	Interface string             `json:"interface"`
	Step      string             `json:"step"`
	Priority  int                `json:"priority,omitempty"`
	Abortable bool               `json:"abortable,omitempty"`
	Args      map[string]StepArg `json:"args,omitempty"`
}

// StepReport is a driver's report on a step. The driver is polled with the Task that it returned, until the step is
// Done.
type StepReport struct {
	Done   bool          `json:"done,omitempty"`
	Reboot bool          `json:"reboot,omitempty"` // power-cycle the machine, then ask again
	Task   string        `json:"task,omitempty"`   // the driver's own record of the running work
	After  time.Duration `json:"after,omitempty"`  // ask again no sooner than this
	Note   string        `json:"note,omitempty"`   // the reason of the wait, for people
	// Progress grows with the work that is done, in a unit of the driver's own; 0 if it cannot be measured. A changed
	// note alone is no progress.
	Progress int `json:"progress,omitempty"`
	// Volumes are the RAID volumes after a step that was to change them, for the node's raid_config; nil for any other
	// step.
	Volumes *[]LogicalDisk `json:"volumes,omitempty"`
	// HardwareReport is the BMC's report after the step, where the step may have changed it.
	HardwareReport *HardwareReport `json:"told,omitempty"`
}

// LogicalDisk is an entry of raid_config's logical_disks, as Ironic's redfish
// driver writes it.
type LogicalDisk struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Controller string `json:"controller"`
	SizeGB     int64  `json:"size_gb"` // GiB, rounded down
	RAIDLevel  string `json:"raid_level"`
}
