package plan

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// tearDown ends an instance: deleting -> cleaning (-> available). The instance's fields and its allocation are
// forgotten once the machine is off, or could not be switched off. Ironic does the same: Nova sees its server deleted,
// and the node waits in error for its operator.
type tearDown struct{}

func (tearDown) steps(d *decision) ([]node.Step, error) {
	if leftAlone(d.n) {
		return nil, nil
	}
	unbind := append(attachTo(d, NoNetwork), bindFlat(d, NoNetwork)...)
	switch off := !d.n.DisablePowerOff && agentDeploy(d.n); {
	case !off && d.f.Settings.Neutron:
		return unbind, nil // VIFs that were attached while the machine ran
	case !off:
		return nil, nil
	}
	return append([]node.Step{step("power", "power_off", nil)}, unbind...), nil
}

func (tearDown) done(d *decision, _ node.Run) {
	d.forgetInstance()
	d.forgetVIFs()
	// The agent of a machine that stayed on was under a tenant's control: its report of a wipe is not trusted.
	d.forgetAgent()
	d.fire(node.Clean)
	d.start("clean")
}

// fail keeps the VIFs that Neutron may still have bound to the machine: the next tear-down unbinds them.
func (tearDown) fail(d *decision, _ node.Run, _ string) {
	d.forgetInstance()
	if !Neutron(d.n) && bindFlat(d, NoNetwork) == nil {
		d.forgetVIFs()
	}
	d.fire(node.Fail)
}

func (tearDown) timeout(s Settings) time.Duration { return s.BMC.Power }

// undeploys reports whether a tear-down is under way, which an automated cleaning follows.
func undeploys(n node.Node) bool { return n.Run != nil && n.Run.Activity == "delete" }

// tearsDown reports whether that one detaches VIFs at its end.
func tearsDown(n node.Node) bool { return n.Networked() && undeploys(n) }

// plugs are ports and portgroups that are saved with the node.
type plugs struct {
	ports  []node.Port
	groups []node.Portgroup
}

// forgetInstance ends the instance: its settings and its allocation.
func (d *decision) forgetInstance() {
	d.n.InstanceInfo, d.n.InstanceUUID, d.n.InstanceName, d.n.AllocationUUID = nil, "", "", ""
	delete(d.n.DriverInternalInfo, node.ImageBootFiles)
	delete(d.n.DriverInternalInfo, node.InstanceImages)
	d.forgetPartitions()
	d.unsetLessee()
}

// forgetVIFs detaches the VIFs of an instance that has ended.
func (d *decision) forgetVIFs() {
	if !d.n.Networked() {
		return
	}
	now := d.now
	for _, p := range d.f.Ports {
		if p.VIF() != "" {
			p.SetVIF("")
			d.rewire(p)
		}
	}
	for _, g := range d.f.Bonds {
		if g.VIF() != "" {
			g.SetVIF("")
			g.UpdatedAt = &now
			d.rewired.groups = append(d.rewired.groups, g)
		}
	}
}

func notProtected(d *decision, _ Request) error {
	if d.n.Protected {
		return node.Refuse(node.Forbidden, "Node %s is protected and can not be undeployed, rebuilt or deleted", d.n.UUID)
	}
	return nil
}
