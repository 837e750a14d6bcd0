package nodeapi

import "time"

// NodeSteps answers GET /ferrite/v1/nodes/{node}/steps: the steps a node has, as far as
// they are known without booting it. Frameworks are clean, deploy, service and verify.
type NodeSteps struct {
	Node  string     `json:"node"` // UUID
	Steps []NodeStep `json:"steps"`
	// AgentListed is when the agent last listed its steps, by framework; a framework that was never listed is absent.
	AgentListed map[string]time.Time `json:"agent_listed"`
	// Open names the interfaces that may have further steps, by framework: interfaces of an agent that has not listed
	// them. Any other step is refused.
	Open map[string][]string `json:"open"`
}

// NodeStep is a step that a node has. The steps of the conductor can be asked for under
// any interface.
type NodeStep struct {
	Interface  string             `json:"interface"`
	Step       string             `json:"step"`
	Source     string             `json:"source"`     // conductor, bmc or agent: the actor
	Priorities map[string]int     `json:"priorities"` // by framework; 0: only when asked for
	Args       map[string]StepArg `json:"args"`
	Abortable  bool               `json:"abortable"`
}

// StepArg is an argument of a step.
type StepArg struct {
	Description string `json:"description"`
	Required    bool   `json:"required"`
}
