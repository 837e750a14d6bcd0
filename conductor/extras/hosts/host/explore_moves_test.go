package host

import (
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// moves are acts of users on documents, and accidents of nodes.
func moves(m model) (all []model) {
	felt := m.drive.moves()
	if !m.drive.on && !m.wishing() {
		felt = slices.Concat(felt, driftMoves)
	}
	for _, move := range felt {
		if m.wishing() && apart[move.name] {
			continue
		}
		next := m.then(move.name)
		if next.h.Annotations == nil {
			next.h.Annotations = map[string]string{}
		}
		if !move.do(&next) {
			continue
		}
		next.moves--
		all = append(all, next)
	}
	return all
}

// apart are those that the others show all there is of: hosts with firmware are
// spared them.
var apart = map[string]bool{"image b": true, "no image": true, "address": true, "secret": true, "crowd": true,
	"inspect": true, "paused": true, "external": true, "detached": true, "reboot": true}

// interference is one move; do returns false for a move that makes no sense.
type interference struct {
	name string
	do   func(*model) bool
}

var interferences = []interference{
	{"image a", specified(func(s *hostapi.HostSpec) { s.Image = image("http://images/a") })},
	{"image b", specified(func(s *hostapi.HostSpec) { s.Image = image("http://images/b") })},
	{"no image", specified(func(s *hostapi.HostSpec) { s.Image = nil })},
	{"switch", specified(func(s *hostapi.HostSpec) { s.Online = !s.Online })},
	{"external", specified(func(s *hostapi.HostSpec) { s.ExternallyProvisioned = !s.ExternallyProvisioned })},
	{"address",
		specified(func(s *hostapi.HostSpec) { s.BMC = hostapi.BMC{Address: "redfish://10.0.0.2", CredentialsName: "bmc"} })},
	{"delete", func(m *model) bool {
		at := hostapi.At(testNow)
		first := m.h.DeletionTimestamp == nil && len(m.h.Finalizers) > 0
		m.h.DeletionTimestamp = &at
		m.h.Generation++
		return first
	}},
	{"paused", toggled(hostapi.AnnotationPaused, "yes")},
	{"detached", toggled(hostapi.AnnotationDetached, "yes")},
	{"reboot", toggled(hostapi.AnnotationReboot, "")},
	{"reboot with key", toggled(hostapi.AnnotationReboot+"/key", `{"force":true}`)},
	{"inspect", toggled(hostapi.AnnotationInspect, "")},
	{"no such setting", wished("Nonsense")},
	{"another setting, and a reboot", func(m *model) bool {
		m.h.Annotations[hostapi.AnnotationReboot] = ""
		return wished("Faster")(m)
	}},
	{"nothing of firmware", func(m *model) bool {
		m.wish("", "")
		return m.wishing()
	}},
	{"no policy", func(m *model) bool {
		had := m.firmware.Policy != nil
		m.firmware.Policy = nil
		return had
	}},
	{"no settings document", func(m *model) bool {
		m.firmware.Settings = nil
		return m.wishing()
	}},
	{"secret", func(m *model) bool { m.secret = !m.secret; return true }},
	{"crowd", func(m *model) bool { m.full = !m.full; return true }},
	{"node lost", func(m *model) bool {
		lost := m.n != nil
		m.n, m.ports = nil, nil
		return lost
	}},
	{"power lost", func(m *model) bool {
		on := m.n != nil && m.n.PowerState == node.PowerOn && m.n.TargetPowerState == ""
		if on {
			m.n.PowerState = node.PowerOff
		}
		return on
	}},
}

func specified(change func(*hostapi.HostSpec)) func(*model) bool {
	return func(m *model) bool {
		change(&m.h.Spec)
		m.h.Generation++
		return true
	}
}

func toggled(name, value string) func(*model) bool {
	return func(m *model) bool {
		if _, there := m.h.Annotations[name]; there {
			delete(m.h.Annotations, name)
		} else {
			m.h.Annotations[name] = value
		}
		return true
	}
}

// act changes the node as the engine would, and complains about actions that it would refuse.
func (x *explorer) act(m *model, a Action) {
	if create, ok := a.(CreateNode); ok {
		n := create.Node.Clone()
		n.UUID, n.ProvisionState, n.Revision = "n1", node.Enroll, 1
		if m.h.Status.Provisioning.ID == n.UUID { // the lost node's
			n.UUID = "n2"
		}
		if m.n != nil {
			x.complain(*m, "a second node")
		}
		m.n = &n
		return
	}
	n := m.n
	if n == nil {
		x.complain(*m, "%T without a node", a)
		return
	}
	overtakes := n.Chore == plan.ShutDown && a == SetPower{Target: node.PowerOff, Once: true}
	if n.Chore != "" && !overtakes {
		x.complain(*m, "%T while the node is reserved for %s", a, n.Chore)
	}
	class := n.ProvisionState.Class()
	switch a := a.(type) {
	case UpdateNode:
		if class != node.Stable && class != node.Failed {
			x.complain(*m, "an edit of a node that is %s", n.ProvisionState)
		}
		*n = a.Node.Clone()
	case CreatePort:
		m.ports = append(m.ports[:len(m.ports):len(m.ports)], a.Port)
	case Provision:
		x.provision(m, a.Request)
	case SetPower:
		if class == node.Working || class == node.Waiting || n.TargetPowerState != "" && !overtakes {
			x.complain(*m, "%s for a node that is %s", a.Target, n.ProvisionState)
		}
		n.TargetPowerState = plan.PowerAfter(a.Target)
		n.Chore = map[bool]string{true: plan.ShutDown}[a.Target == node.SoftPowerOff]
		if class != node.Failed {
			n.LastError = ""
		}
	case AttachMedium:
		m.drive.asked, n.Chore, n.LastError = a.Medium.Image, "attach", ""
	case DetachMedia:
		m.drive.asked, n.Chore, n.LastError = "", "detach", ""
	case SetMaintenance:
		n.Maintenance, n.Fault = a.On, ""
	case SetRAID:
		n.TargetRAIDConfig = maps.Clone(a.Config)
	case DeleteNode:
		if !n.Maintenance && (n.InstanceUUID != "" || class == node.Working || class == node.Waiting) {
			x.complain(*m, "deletes a node that is in use")
		}
		m.n, m.ports = nil, nil
	}
}

func (x *explorer) provision(m *model, r plan.Request) {
	n := m.n
	if !node.Requestable(n.ProvisionState, r.Verb) || n.TargetPowerState != "" {
		x.complain(*m, "asks for %s of a node that is %s, on its way to %q", r.Verb, n.ProvisionState, n.TargetPowerState)
		return
	}
	if r.Verb == node.Deploy && (n.Maintenance || plan.CheckInstance(*n) != nil) {
		x.complain(*m, "a deploy that cannot succeed: %v", plan.CheckInstance(*n))
	}
	if r.Verb == node.Inspect {
		n.InspectionFinishedAt = nil
	}
	n.LastError = ""
	m.steps = append(r.CleanSteps, r.ServiceSteps...)
	m.moveNode(r.Verb)
	if r.Verb == node.Clean {
		n.TargetProvisionState = node.Manageable
	}
}

// moveNode moves the node along a row, with the effects of that.
func (m *model) moveNode(e node.Event) {
	n := m.n
	from, byHand := n.ProvisionState, n.TargetProvisionState == node.Manageable
	n.ProvisionState, _ = node.Next(n.ProvisionState, e)
	n.TargetProvisionState = node.States[n.ProvisionState].Target
	if byHand &&
		(n.ProvisionState == node.CleanWait || n.ProvisionState == node.Cleaning || n.ProvisionState == node.CleanFailed) {
		n.TargetProvisionState = node.Manageable
	}
	m.writeDisk(from, n.ProvisionState)
	switch e {
	case node.Fail, node.Abort:
		n.LastError = map[node.Event]string{node.Fail: "it failed", node.Abort: "the run was aborted"}[e]
		if n.ProvisionState == node.CleanFailed || n.ProvisionState == node.ServiceFailed {
			n.Maintenance, n.Fault = true, "it failed"
		}
		m.steps = nil
	case node.Manage:
		m.takeSteps()
	case node.Done:
		m.takeSteps()
		if from == node.Inspecting || from == node.InspectWait {
			at := testNow
			n.InspectionFinishedAt = &at
		}
	case node.Clean:
		if from == node.Deleting {
			n.InstanceUUID, n.InstanceInfo = "", nil
		}
	default:
	}
}

// byItself are the ways a node goes on without anybody asking, good ones and
// bad ones; holds, which operators list, are none of them.
func byItself(n *node.Node) (all []node.Event) {
	for _, row := range node.Table {
		class := row.From.Class()
		if row.From != n.ProvisionState || row.By == node.ByRequest || row.On == node.Hold || class != node.Working &&
			class != node.Waiting {
			continue
		}
		manual := n.TargetProvisionState == node.Manageable && (row.From == node.Cleaning || row.From == node.CleanWait)
		if row.From == node.Cleaning && (row.On == node.Manage && !manual || row.On == node.Done && manual) {
			continue
		}
		all = append(all, row.On)
	}
	return all
}

// nodeGoesOn are all ways in which the node may go on.
func (x *explorer) nodeGoesOn(m model) (all []model) {
	if m.n == nil {
		return nil
	}
	for _, e := range byItself(m.n) {
		next := m.then("node: " + string(e))
		next.moveNode(e)
		all = append(all, next)
	}
	if m.n.TargetPowerState != "" {
		for _, fine := range []bool{true, false} {
			next := m.then("node: power")
			next.powerEnds(fine)
			all = append(all, next)
		}
	}
	if m.n.Chore != "" && m.n.Chore != plan.ShutDown {
		for _, fine := range []bool{true, false} {
			all = append(all, m.choreEnds(fine))
		}
	}
	return all
}

func (m *model) powerEnds(fine bool) {
	if fine {
		m.n.PowerState = m.n.TargetPowerState
	} else {
		m.n.LastError = `power change to "` + string(m.n.TargetPowerState) + `" failed: no`
	}
	m.n.TargetPowerState, m.n.Chore = "", ""
}

// goOn is the one way in which a node goes on in a world that works, or fails.
func (x *explorer) goOn(m model, fine bool) (next model, ok bool) {
	if m.n == nil {
		return m, false
	}
	if m.n.TargetPowerState != "" {
		next = m.then("node: power")
		next.powerEnds(fine)
		return next, true
	}
	if m.n.Chore != "" {
		return m.choreEnds(fine), true
	}
	var way node.Event
	for _, e := range byItself(m.n) {
		bad := e == node.Fail
		switch {
		case bad != !fine, e == node.Wait: // success needs no waiting
		case way == "" || e != node.Resume:
			way = e
		}
	}
	if way == "" {
		return m, false
	}
	next = m.then("node: " + strings.ToLower(string(way)))
	next.moveNode(way)
	return next, true
}
