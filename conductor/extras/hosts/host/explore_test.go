package host

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/firmware"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

var (
	exploreMoves = flag.Int("explore.moves", 1, "how many times people and accidents interfere in one exploration")
	exploreFrom  = flag.String("explore.from", "", "explore only what this host comes to, of those that it begins with")
)

// TestExplore begins with hosts that were just applied, and follows every sequence of events until none leads to a new
// situation. Events are looks at the host, with the conductor ending before it has saved its decision; refusals of the
// engine; the node's progress, well and badly, by its own table; and time. Once on every way, a user changes the
// document, a secret or a node. Situations that differ only in times and texts are visited once. In each the invariants
// hold. From each the host comes to rest, in a world that works and in a world that fails.
func TestExplore(t *testing.T) {
	x := &explorer{t: t, seen: map[string]bool{}, calm: map[string]bool{}, states: map[hostapi.State]bool{},
		nodes: map[node.State]bool{}}
	var level []model
	for name, change := range applied {
		m := model{h: newFacts(hostapi.StateNone, "").Host, secret: true, moves: *exploreMoves, trail: []string{name},
			speed: "Slow", disk: anything}
		m.h.Finalizers, m.h.Status = nil, hostapi.HostStatus{}
		m.h.Spec.BMC = hostapi.BMC{Address: "redfish://10.0.0.1", CredentialsName: "bmc"}
		change(&m)
		level = append(level, m)
	}
	level = append(level, driveModels()...)
	if *exploreFrom != "" {
		level = slices.DeleteFunc(level, func(m model) bool { return m.trail[0] != *exploreFrom })
	}
	depth := 0
	for ; len(level) > 0 && !t.Failed(); depth++ {
		var next []model
		for _, m := range level {
			if key := m.key(); !x.seen[key] {
				x.seen[key] = true
				x.states[m.h.Status.Provisioning.State] = true
				if m.n != nil {
					x.nodes[m.n.ProvisionState] = true
				}
				x.rests(m)
				next = append(next, x.successors(m)...)
			}
		}
		level = next
	}
	t.Logf("%d situations in %d states, %d events, depth %d", len(x.seen), len(x.states), x.events, depth-1)
	if *exploreFrom == "" {
		x.cameEverywhere()
	}
}

// cameEverywhere: an exploration that misses a state shows nothing of it.
func (x *explorer) cameEverywhere() {
	for s := range handlers {
		if !x.states[s] && s != hostapi.StateMatchProfile {
			x.t.Errorf("the state %q was never come to", s)
		}
	}
	for _, s := range []node.State{node.InspectFailed, node.CleanFailed, node.DeployFailed, node.AdoptFailed,
		node.ServiceWait, node.ServiceFailed} {
		if !x.nodes[s] {
			x.t.Errorf("no node was ever %q", s)
		}
	}
}

// applied is how hosts begin.
var applied = map[string]func(*model){
	"plain":      func(*model) {},
	"image":      func(m *model) { m.h.Spec.Image = image("http://images/a") },
	"external":   func(m *model) { m.h.Spec.ExternallyProvisioned = true },
	"unknown":    func(m *model) { m.h.Spec.BMC = hostapi.BMC{} },
	"unlooked":   func(m *model) { m.h.Spec.InspectionMode = hostapi.InspectionDisabled },
	"with disks": func(m *model) { softwareRAID(&m.h.Spec) },
	"firmware":   func(m *model) { m.wish("Fast", "http://images/bios-2") },
	"serviced": func(m *model) {
		m.h.Spec.ExternallyProvisioned = true
		m.wish("Fast", "http://images/bios-2")
		m.firmware.Policy = policy(hostapi.OnReboot, hostapi.OnReboot)
	},
}

// model is a host, the node it may have, and the state of the world around them.
type model struct {
	h        hostapi.Host
	firmware firmware.Documents
	n        *node.Node
	ports    []node.Port
	drive    driveModel
	disk     string      // the URL of the image on it; anything for unknown, "" for erased
	speed    string      // a BIOS setting of the machine
	steps    []node.Step // that the node does
	secret   bool
	full     bool // others are busy
	late     bool // the host has failed, and time has passed since
	gone     bool
	moves    int // that are left to people and accidents
	trail    []string
}

func (m model) situation() Facts {
	facts := Facts{Host: m.h, Node: m.n, Ports: m.ports, ProvisioningLimit: 2, Now: testNow,
		Secrets: map[string]hostapi.Secret{}}
	if m.n != nil {
		n := m.n.Clone()
		facts.Node = &n
	}
	if m.full {
		facts.BusyNodes = 2
	}
	if m.secret {
		facts.Secrets = newFacts(hostapi.StateAvailable, "").Secrets
	}
	if at := m.h.Status.LastUpdated; at != nil {
		at := hostapi.At(testNow)
		if m.late {
			at = hostapi.At(testNow.Add(-24 * time.Hour))
		}
		facts.Host.Status.LastUpdated = &at
	}
	m.drive.tell(&facts)
	return m.withFirmware(facts)
}

// key is the situation without insignificant parts.
func (m model) key() string {
	var b strings.Builder
	st, sp := m.h.Status, m.h.Spec
	fmt.Fprintln(&b, m.secret, m.full, m.late, m.moves, m.gone, m.h.DeletionTimestamp != nil, m.h.Finalizers,
		m.h.Annotations,
		translate.ImageURL(sp.Image), sp.Online, sp.ExternallyProvisioned, sp.BMC.Address, sp.InspectionMode, sp.RAID != nil)
	fmt.Fprintln(&b, "|", st.Provisioning.State, st.OperationalStatus, st.ErrorType, min(st.ErrorCount, giveUpAfter+1),
		min(st.ProvisioningFailCount, 1), st.PoweredOn, translate.ImageURL(st.Provisioning.Image),
		st.Provisioning.ID != "", st.Provisioning.RAID != nil, st.Provisioning.RootDeviceHints != nil,
		st.GoodCredentials.Version, translate.ImageURL(st.LastAttemptedImage), len(st.Conditions) > 0 &&
			st.Conditions[0].ObservedGeneration == m.h.Generation)
	fmt.Fprintln(&b, begin(m.situation()).drifted(), m.disk, m.drive.key(), "|", m.speed, m.steps, m.wishes())
	if n := m.n; n != nil {
		fmt.Fprintln(&b, "|", n.UUID == st.Provisioning.ID, n.Chore, n.Name, n.ProvisionState, n.TargetProvisionState,
			n.PowerState, n.TargetPowerState, n.LastError, n.Maintenance, n.InstanceUUID != "",
			n.InstanceInfo["image_source"], n.InspectionFinishedAt != nil, n.Interfaces["raid"], n.Interfaces["deploy"],
			n.TargetRAIDConfig != nil, len(m.ports))
	}
	return b.String()
}

func (m model) then(what string) model {
	m.trail = append(m.trail[:len(m.trail):len(m.trail)], what)
	m.h.Annotations = maps.Clone(m.h.Annotations)
	if m.n != nil {
		n := m.n.Clone()
		m.n = &n
	}
	return m
}

// explorer counts, and complains.
type explorer struct {
	t      *testing.T
	seen   map[string]bool
	calm   map[string]bool // from where the host was seen to come to rest
	states map[hostapi.State]bool
	nodes  map[node.State]bool
	events int
}

func (x *explorer) complain(m model, format string, args ...any) {
	x.t.Helper()
	trail := m.trail[max(0, len(m.trail)-60):]
	x.t.Errorf("%s\n\tafter %s\n\thost %+v\n\tnode %+v", fmt.Sprintf(format, args...), strings.Join(trail, ", "),
		m.h.Status, m.n)
}

// successors are all that can follow.
func (x *explorer) successors(m model) (all []model) {
	if m.gone {
		return nil
	}
	facts := m.situation()
	d := Decide(facts)
	all = append(all, x.look(m, facts, d, true))
	if d.Action != nil {
		all = append(all, x.look(m, facts, d, false)) // the conductor ends before it has saved the document
		if m.moves > 0 {
			refused := m.then("refused")
			refused.moves--
			refusal := Refused(facts, d, "refused")
			refused.h, refused.late = refusal.Host, false
			refused.drive.save(refusal.DataImage)
			all = append(all, refused)
		}
	}
	all = append(all, x.nodeGoesOn(m)...)
	if m.h.Status.ErrorType != "" && !m.late || m.drive.waits() {
		all = append(all, m.later())
	}
	if m.moves > 0 {
		all = append(all, moves(m)...)
	}
	x.events += len(all)
	return all
}

// look has a decision carried out, and saved.
func (x *explorer) look(m model, facts Facts, d Decision, saved bool) model {
	next := m.then(spoken(d))
	if d.Err != nil {
		x.complain(next, "%v", d.Err)
	}
	x.allowed(m, d)
	x.allowedDisc(m, d)
	x.allowedDisk(m, d)
	if d.Action != nil {
		x.act(&next, d.Action)
	}
	if !saved {
		next.trail[len(next.trail)-1] += " (not saved)"
		return next
	}
	if d.Host.Status.LastUpdated != nil && m.h.Status.LastUpdated != d.Host.Status.LastUpdated {
		next.late = next.late && d.Host.Status.LastUpdated.Before(testNow)
	}
	next.drive.save(d.DataImage)
	if external := hostapi.StateExternallyProvisioned; d.Host.Status.Provisioning.State == external &&
		m.h.Status.Provisioning.State != external {
		next.disk = anything // as the document says
	}
	next.h, next.firmware = d.Host, facts.Firmware
	if d.Components != nil {
		next.firmware.Components = d.Components
	}
	if next.gone = d.Host.DeletionTimestamp != nil && len(d.Host.Finalizers) == 0; next.gone {
		next.drive.orphan()
	}
	return next
}

// allowed are the invariants about permitted actions.
func (x *explorer) allowed(m model, d Decision) {
	_, paused := m.h.Annotations[hostapi.AnnotationPaused]
	p, provisions := d.Action.(Provision)
	_, powers := d.Action.(SetPower)
	servicing := m.h.Status.OperationalStatus == hostapi.StatusServicing || m.h.Status.ErrorType == hostapi.ServicingError
	endsOurs := p.Request.Verb == node.Abort && servicing // and its policy is gone
	switch {
	case paused && (d.Action != nil || !d.RequeueAt.IsZero()):
		x.complain(m, "a paused host is touched: %s", spoken(d))
	case d.Action != nil && len(m.h.Finalizers) == 0:
		x.complain(m, "%s for a host that may vanish", spoken(d))
	case m.h.Status.OperationalStatus == hostapi.StatusDetached && m.h.Annotations[hostapi.AnnotationDetached] != "" &&
		(powers || provisions):
		x.complain(m, "a detached host is touched: %s", spoken(d))
	case m.h.Status.Provisioning.State == hostapi.StateExternallyProvisioned && provisions &&
		p.Request.Verb != node.Adopt && p.Request.Verb != node.Manage && m.firmware.Policy == nil && !endsOurs:
		x.complain(m, "the machine of somebody else is touched: %s", spoken(d))
	case provisions && p.Request.Verb == node.Service && m.n.ProvisionState == node.Active &&
		m.n.PowerState != node.PowerOff && m.h.Status.ErrorType != hostapi.ServicingError:
		x.complain(m, "a machine at work is interrupted: %s", spoken(d))
	case provisions && strings.Contains(fmt.Sprint(p.Request), "Nonsense"):
		x.complain(m, "nonsense is tried")
	case provisions && p.Request.Verb == node.Deploy && translate.ImageURL(m.h.Spec.Image) == "":
		x.complain(m, "a deploy of nothing")
	case m.h.Status.Provisioning.State == hostapi.StateProvisioned && provisions && p.Request.Verb == node.Delete:
		x.complain(m, "a provisioned host is torn down where it is")
	}
}

// rests follows the host in a world that works, and in a world that fails. It ends where nothing more happens by
// itself, or where an earlier walk has been.
func (x *explorer) rests(m model) {
	for _, fine := range []bool{true, false} {
		w, passed := m, []string{}
		w.full, w.drive.deaf = false, w.drive.deaf && !fine
		for turn := 0; !x.t.Failed(); turn++ {
			here := fmt.Sprint(fine, w.key())
			if x.calm[here] {
				break
			}
			passed = append(passed, here)
			if turn > 120 {
				x.complain(w, "never comes to rest (fine %v)", fine)
			}
			next, atRest := x.turn(w, fine)
			if w = next; !atRest {
				continue
			}
			if remedied, held := x.remedy(w); held && fine {
				w = remedied
				continue
			}
			if fine {
				x.asWanted(w)
			}
			break
		}
		for _, key := range passed {
			x.calm[key] = true
		}
	}
}

// turn looks at the host, and lets the node or else the time go on.
func (x *explorer) turn(m model, fine bool) (_ model, atRest bool) {
	m, moved := x.lookUntilQuiet(m)
	if m.gone {
		return m, true
	}
	if next, ok := x.goOn(m, fine); ok {
		return next, false
	}
	failing := m.h.Status.ErrorType != "" && (!m.late || moved) || m.drive.waits()
	// A deletion goes on without the secret, too.
	if forGood := m.h.DeletionTimestamp == nil && (!m.secret || !fine); !failing || forGood {
		return m, true
	}
	return m.later(), false
}

// later is the situation after the pause of a failure.
func (m model) later() model {
	m = m.then("time")
	m.late, m.drive.late = true, true
	return m
}

// lookUntilQuiet looks at the host as often as a reconciler would at once.
func (x *explorer) lookUntilQuiet(m model) (_ model, moved bool) {
	for range 60 {
		facts := m.situation()
		d := Decide(facts)
		m = x.look(m, facts, d, true)
		if m.gone || d.RequeueAt.After(testNow) || d.RequeueAt.IsZero() {
			return m, moved
		}
		moved = true
	}
	x.complain(m, "is looked at again and again at once")
	return m, moved
}

// asWanted: at rest, a host is as its document says, or says why not.
func (x *explorer) asWanted(m model) {
	st, sp := m.h.Status, m.h.Spec
	_, paused := m.h.Annotations[hostapi.AnnotationPaused]
	_, detached := m.h.Annotations[hostapi.AnnotationDetached]
	_, reboot := m.h.Annotations[hostapi.AnnotationReboot+"/key"]
	switch {
	case paused || m.gone:
	case m.h.DeletionTimestamp != nil:
		x.complain(m, "a deleted host stays")
	case st.Provisioning.State == hostapi.StateUnmanaged:
		if sp.BMC.Address != "" {
			x.complain(m, "a host that can be reached is left alone")
		}
	case detached && st.OperationalStatus == hostapi.StatusDetached:
	case !m.secret:
		if st.ErrorType != hostapi.RegistrationError {
			x.complain(m, "a host without credentials does not say so")
		}
	case st.ErrorType != "" || m.drive.fails():
		x.complain(m, "fails though nothing is wrong")
	case translate.ImageURL(sp.Image) != "" && sp.Online && !sp.ExternallyProvisioned &&
		(st.Provisioning.State != hostapi.StateProvisioned ||
			translate.ImageURL(st.Provisioning.Image) != translate.ImageURL(sp.Image)):
		x.complain(m, "the image is not there")
	case st.PoweredOn != (sp.Online && !reboot):
		x.complain(m, "on is %v", st.PoweredOn)
	case st.OperationalStatus != hostapi.StatusOK:
		x.complain(m, "is %s still", st.OperationalStatus)
	case st.Provisioning.State == hostapi.StateAvailable && begin(m.situation()).firmwareToPrepare().Asked():
		x.complain(m, "the firmware is not as wanted")
	}
}
