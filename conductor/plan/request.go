package plan

import (
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// verbs says which activity a verb begins; verbs that begin none only move
// the node along the table. A verb of the table that is not here is not
// built yet.
var verbs = map[node.Event]struct {
	activity string
	check    func(n node.Node) error
}{
	node.Manage:  {"verify", nil}, // from enroll; elsewhere a plain move
	node.Provide: {"clean", notRetired},
	node.Inspect: {"inspect", canInspect},
	node.Deploy:  {"deploy", canDeploy},
	node.Rebuild: {"deploy", canDeploy},
	node.Delete:  {"delete", notProtected},
	node.Abort:   {"", nil},
}

// request takes an operator's verb: refused with a reason, or begun.
func (d *decision) request(r Request) error {
	if d.f.Owed {
		return d.locked()
	}
	if !node.Requestable(d.n.ProvisionState, r.Verb) {
		return node.Refuse(node.InvalidState,
			"The requested action %q can not be performed on node %q while it is in state %q.", r.Verb, d.n.UUID, d.n.ProvisionState)
	}
	v, built := verbs[r.Verb]
	if !built || len(r.CleanSteps)+len(r.DeploySteps)+len(r.ServiceSteps) > 0 {
		return node.Refuse(node.Invalid, "%q with these arguments is not built into this release; built are manage, inspect, provide, deploy, rebuild, delete and abort", r.Verb)
	}
	if v.check != nil {
		if err := v.check(d.n); err != nil {
			return err
		}
	}
	if r.Verb == node.Abort {
		d.abort()
		return nil
	}
	if r.ConfigDrive != nil {
		if d.n.InstanceInfo == nil {
			d.n.InstanceInfo = map[string]any{}
		}
		d.n.InstanceInfo["configdrive"] = r.ConfigDrive
	}
	d.n.LastError = ""
	d.fire(r.Verb)
	if d.n.ProvisionState.Class() == node.Working {
		d.start(v.activity)
	}
	return d.err
}

// abort ends a waiting run, at the operator's wish. A step under way on the
// machine is not called back; the next power cycle ends it.
func (d *decision) abort() {
	reason := "aborted by request"
	if r := d.n.Run; r != nil {
		reason = fmt.Sprintf("%s aborted by request while waiting for %s", r.Activity, r.Waiting)
		if activities[r.Activity] == (clean{}) {
			d.n.Maintenance, d.n.MaintenanceReason, d.n.Fault = true, reason, "clean failure"
		}
	}
	d.n.LastError = reason
	d.note("ERROR", reason)
	d.n.Run = nil
	d.forgetAgent()
	d.fire(node.Abort)
}

func (d *decision) locked() error {
	return node.Refuse(node.Locked, "Node %s is locked by host %s, please retry after the current operation is completed.", d.n.UUID, d.f.Settings.Host)
}

func notRetired(n node.Node) error {
	if n.Retired {
		return node.Refuse(node.InvalidState, "Node %s is retired: clear retired before it is provided", n.UUID)
	}
	return nil
}

func notProtected(n node.Node) error {
	if n.Protected {
		return node.Refuse(node.Forbidden, "Node %s is protected and can not be undeployed, rebuilt or deleted", n.UUID)
	}
	return nil
}

func canInspect(n node.Node) error {
	switch name := n.Interfaces["inspect"]; name {
	case "agent", "redfish", "fake":
		return nil
	case "no-inspect":
		return node.Refuse(node.Invalid, "node %s has inspect interface no-inspect; set inspect_interface to agent or redfish", n.UUID)
	default:
		return node.Refuse(node.Invalid, "node %s has inspect interface %q, which is not built into this release; set inspect_interface to agent or redfish", n.UUID, name)
	}
}

func canDeploy(n node.Node) error {
	if n.Maintenance {
		return node.Refuse(node.Invalid, "The deploy operation can't be performed on node %s because it's in maintenance mode.", n.UUID)
	}
	if n.ProvisionState == node.Active {
		if err := notProtected(n); err != nil {
			return err
		}
	}
	return CheckInstance(n)
}
