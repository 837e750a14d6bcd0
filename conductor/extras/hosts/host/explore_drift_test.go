package host

import (
	"maps"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// anything is the content of an unknown disk.
const anything = "anything"

// writeDisk changes the disk when a node goes from one state to another.
func (m *model) writeDisk(from, to node.State) {
	switch {
	case from == node.Deleting && to == node.Cleaning:
		m.disk = ""
	case to == node.Active && (from == node.Deploying || from == node.DeployWait):
		m.disk = instanceImage(*m.n)
	}
}

// wipe is a node after a forced undeploy, in its state since then.
func (m *model) wipe(is node.State) {
	m.n.ProvisionState, m.n.TargetProvisionState = is, node.States[is].Target
	m.n.InstanceUUID, m.n.InstanceInfo, m.n.LastError = "", nil, ""
	m.n.Chore, m.n.TargetPowerState, m.disk = "", "", ""
}

// see looks at the host, as after each change of a node; false for a paused host, which has no reaction.
func (m *model) see() bool {
	d := Decide(m.situation())
	_, paused := m.h.Annotations[hostapi.AnnotationPaused]
	if d.Action == nil {
		m.h = d.Host
	}
	return !paused
}

// behind is something that is done to a node behind its host.
func behind(do func(m *model) bool, states ...node.State) func(*model) bool {
	return func(m *model) bool {
		for _, s := range states {
			if m.n != nil && m.n.ProvisionState == s && m.n.Chore == "" && m.n.TargetPowerState == "" {
				return do(m)
			}
		}
		return false
	}
}

// driftMoves change a node behind its host.
var driftMoves = []interference{
	{"undeployed", behind(func(m *model) bool {
		m.wipe(node.Available)
		return true
	}, node.Active, node.Rescue, node.ServiceFailed)},
	{"tear-down failed", behind(func(m *model) bool {
		m.wipe(node.Error)
		return true
	}, node.Active)},
	{"undeployed and made manageable", behind(func(m *model) bool {
		m.wipe(node.Available)
		seen := m.see()
		m.wipe(node.Manageable)
		return seen
	}, node.Active)},
	{"undeployed and forgotten", behind(func(m *model) bool {
		m.wipe(node.Available)
		seen := m.see()
		m.n, m.ports = nil, nil
		return seen
	}, node.Active)},
	{"deployed by another", behind(func(m *model) bool {
		m.wipe(node.DeployWait)
		seen := m.see()
		m.wipe(node.Active)
		m.n.InstanceInfo, m.disk = map[string]any{"image_source": "http://images/theirs"}, "http://images/theirs"
		return seen
	}, node.Active, node.Available)},
	{"rebuilt", behind(func(m *model) bool {
		if instanceImage(*m.n) == "" {
			return false
		}
		m.n.InstanceInfo = maps.Clone(m.n.InstanceInfo)
		m.n.InstanceInfo["image_source"], m.disk = "http://images/theirs", "http://images/theirs"
		return true
	}, node.Active)},
	{"reprovision", toggled(hostapi.AnnotationReprovision, "")},
}

// allowedDisk: a host is never well beside a disk that holds anything else than its image, and nothing is written
// or erased because a disk has changed.
func (x *explorer) allowedDisk(m model, d Decision) {
	st, n := d.Host.Status, m.n
	steady := st.Provisioning.State == hostapi.StateProvisioned ||
		st.Provisioning.State == hostapi.StateExternallyProvisioned
	_, paused := m.h.Annotations[hostapi.AnnotationPaused]
	known, runs := m.disk != anything, translate.ImageURL(st.Provisioning.Image)
	steady = steady && m.h.Status.Provisioning.State == st.Provisioning.State
	if n == nil || paused || !steady || d.Action != nil || !known || m.h.DeletionTimestamp != nil {
		return
	}
	healthy := false
	for _, c := range st.Conditions {
		healthy = healthy || c.Type == hostapi.ConditionHealthy && c.Reason != WorkloadLost
	}
	lost := m.disk == "" || runs != "" && m.disk != runs
	if lost && n.ProvisionState.Class() == node.Stable && st.ErrorType == "" && healthy {
		x.complain(m, "a host is well beside a disk with %q", m.disk)
	}
}

// remedy does the act that a host in error asks for, after its node was changed behind it.
func (x *explorer) remedy(m model) (_ model, held bool) {
	if m.n == nil || m.h.Status.ErrorType != hostapi.ProvisionedRegistrationError || m.h.DeletionTimestamp != nil {
		return m, false
	}
	d := begin(m.situation())
	switch lost := d.lostWorkload() != ""; {
	case lost && m.h.Status.Provisioning.State == hostapi.StateProvisioned:
		m = m.then("reprovision")
		m.h.Annotations[hostapi.AnnotationReprovision] = ""
	case lost:
		m = m.then("installed by hand and adopted")
		m.n.ProvisionState, m.n.TargetProvisionState, m.disk = node.Active, "", anything
	case d.foreignWorkload():
		m = m.then("undeployed by hand")
		m.wipe(node.Available)
	default:
		return m, false
	}
	return m, true
}
