package plan

import (
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// rescue boots a ramdisk that an operator can log in to: rescuing -> rescue.
// The disks are left alone.
type rescue struct{}

// rescueHash is where Ironic keeps the password of user rescue, hashed.
const rescueHash = "hashed_rescue_password"

func (rescue) steps(d *decision) ([]node.Step, error) {
	if d.n.Interfaces["rescue"] == "fake" {
		return nil, nil
	}
	return slices.Concat(bootToAgent(d), []node.Step{step("agent", "finalize_rescue", nil)},
		attachTo(d, TenantNetwork)), nil
}

// Finalized is the result of agent.finalize_rescue. AnswerLost is set if it is inferred, because the agent has left the
// machine.
type Finalized struct {
	agentapi.Result
	AnswerLost bool `json:"answer_lost,omitempty"`
}

func rescueFinalized(d *decision, f Finalized) error {
	if f.AnswerLost {
		d.note("INFO",
			"the agent's answer to finalize_rescue was lost; it listens no more, as agents do that have let user rescue in")
	}
	return commandAnswered(d, f.Result)
}

func (rescue) done(d *decision, _ node.Run) {
	delete(d.n.InstanceInfo, rescueHash)
	d.n.Agent.Doubted = d.n.Agent.URL != "" // it is the owner's from here on; only its last log lines are still taken
	d.fire(node.Done)
}

func (rescue) fail(d *decision, _ node.Run, _ string) {
	delete(d.n.InstanceInfo, rescueHash)
	d.fire(node.Fail)
}

func (rescue) timeout(s Settings) time.Duration { return s.RescueTimeout }

func rescuable(d *decision, _ Request) error {
	switch name := d.n.Interfaces["rescue"]; name {
	case "agent", "fake":
		return nil
	default:
		return node.Refuse(node.Invalid,
			"node %s has rescue interface %q; set rescue_interface to agent (on a node in use only while it is in maintenance)",
			d.n.UUID, name)
	}
}

func passwordGiven(_ *decision, r Request) error {
	if r.RescueHash == "" {
		return node.Refuse(node.Invalid,
			`A non-empty "rescue_password" is required when setting target provision state to rescue`)
	}
	return nil
}
