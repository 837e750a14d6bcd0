// Package host decides what a conductor does for a BareMetalHost: plain data in
// (the document, the secrets it names, the node behind it, the time), plain data
// out (the document as it becomes, and at most one thing to be done to the node).
// One file per state, one per annotation's matter, one per part of the document
// that becomes a part of the node.
//
// What it decides is Metal3's: states, errors, conditions and calls are those of
// baremetal-operator 0.14. It is pure: no I/O, no clock, no goroutine. It never
// touches a node: an Action is an operator's request, which the engine may refuse.
package host

import (
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Situation is all that a decision rests on.
type Situation struct {
	Host           hostapi.Host
	Secrets        map[string]hostapi.Secret // by name, of SecretNames those that exist
	Hardware       *hostapi.Hardware         // of the HardwareData of that name; nil for none
	Node           *node.Node                // the node behind the host; nil for none
	Foreign        string                    // why the node that was found is not behind the host; "" for none or for Node
	DataImage      *hostapi.DataImage        // of the host's name; nil for none
	Media          *Media                    // of Node, asked for where AsksMedia says so; nil for not asked
	Ports          []node.Port               // of Node
	Inspected      *node.Inspected           // what Node's last inspection found; nil for nothing
	HardwareReport node.HardwareReport       // what Node's BMC has told of BIOS settings and firmware
	Firmware       Firmware                  // the documents about them
	Taken          map[string]string         // of Addresses those that are ports of other nodes, whose names these are
	Enrolled       string                    // a node with the host's BMC that is not behind it, for a host without a node; "" for none
	Rivals         []Rival                   // hosts that had one of Claims before this one
	Busy           int                       // other nodes that are inspected, cleaned, deployed or deleted
	Limit          int                       // how many may be at a time; 0 for any number
	Now            time.Time
}

// Rival is a host that has had before what can be one host's alone.
type Rival struct {
	Claim string // as Claims has it
	Host  string // "namespace/name"
}

// Decision is what follows. Documents are to be saved once Action has been taken:
// a conductor that ends between the two decides the same again, or finds that the
// node has gone on.
type Decision struct {
	Host      hostapi.Host
	Action    Action             // nil for nothing to be done
	Fails     hostapi.ErrorType  // what it is called when Action is refused
	Hardware  *hostapi.Hardware  // what the HardwareData is to hold; nil for as before
	DataImage *hostapi.DataImage // as it becomes; nil for as before
	Events    []hostapi.Event    // what people are told once Host is saved: type, reason and message
	Again     time.Time          // when to look again, whatever happens; zero for not at all
	Err       error              // a row the table lacks: a fault of ours

	Components *hostapi.HostFirmwareComponents // with its status as it becomes; nil for as before
}

// How long something may go unnoticed that ought to have been told at once.
const (
	waitTime = time.Minute      // for a node at work
	restTime = 10 * time.Minute // for a host at rest
)

// Decide says what is done next for a host.
func Decide(s Situation) Decision {
	d := begin(s)
	d.decide()
	return d.end()
}

// Refused is the decision instead, when the engine has refused the action of
// one made in s: nothing was done, and the host says why, or the image that was to
// go in or out.
func Refused(s Situation, was Decision, reason string) Decision {
	d := begin(s)
	switch was.Action.(type) {
	case AttachMedium:
		d.failImage(attaching(s.DataImage.Spec.URL), reason)
	case DetachMedia:
		d.failImage(detaching(s.DataImage.Spec.URL), reason)
	default:
		d.refuse(was.Fails, "%s", reason)
	}
	return d.end()
}

// decision is the scratch pad of one Decide.
type decision struct {
	s Situation
	h hostapi.Host // as it becomes
	Decision

	base  hostapi.HostStatus // what a host goes back to that has to wait for others
	image dataImage          // for the machine's virtual drive
}

func begin(s Situation) *decision {
	return &decision{s: s, h: clone(s.Host), image: dataImageOf(s.DataImage)}
}

// decide goes through what every host has to pass before its state is asked.
func (d *decision) decide() {
	if d.paused() || d.letGo() {
		return
	}
	d.trackImage()
	if d.restoreStatus() { // saved first: the node behind the host is found by it
		d.soon()
		return
	}
	d.takeDetails()
	d.base = d.h.Status
	for _, gate := range gates {
		if !gate(d) {
			return
		}
	}
	handlers[d.state().Canonical()](d)
}

// gates are asked in this order; each answers whether the next may be.
var gates = []func(*decision) bool{
	(*decision).addFinalizer,
	(*decision).powerAtRest,
	(*decision).admit,
	(*decision).startDeletion,
	(*decision).attach,
	(*decision).register,
}

// handlers is what is done in each state, of a host that has passed the gates.
var handlers = map[hostapi.State]func(*decision){
	hostapi.StateNone:                    (*decision).none,
	hostapi.StateUnmanaged:               (*decision).unmanaged,
	hostapi.StateRegistering:             (*decision).registering,
	hostapi.StateMatchProfile:            (*decision).matchProfile,
	hostapi.StateInspecting:              (*decision).inspecting,
	hostapi.StatePreparing:               (*decision).preparing,
	hostapi.StateAvailable:               (*decision).available,
	hostapi.StateProvisioning:            (*decision).provisioning,
	hostapi.StateProvisioned:             (*decision).provisioned,
	hostapi.StateExternallyProvisioned:   (*decision).externallyProvisioned,
	hostapi.StateDeprovisioning:          (*decision).deprovisioning,
	hostapi.StatePoweringOffBeforeDelete: (*decision).poweringOff,
	hostapi.StateDeleting:                (*decision).deleting,
}

// letGo: somebody has asked for the host to be deleted, and we hold it no longer.
func (d *decision) letGo() bool { return d.leaving() && !d.hasFinalizer() }

// end brings the scratch pad into the form of a decision.
func (d *decision) end() Decision {
	if !d.letGo() && !d.paused() {
		d.setConditions()
	}
	if !reflect.DeepEqual(d.h.Status, d.s.Host.Status) {
		at := hostapi.At(d.s.Now)
		d.h.Status.LastUpdated = &at
	}
	d.Host, d.Events = d.h, d.events()
	d.finishImage()
	return d.Decision
}

func (d *decision) state() hostapi.State { return d.h.Status.Provisioning.State }

// leaving: the host is to be deleted.
func (d *decision) leaving() bool { return d.h.DeletionTimestamp != nil }

// fire moves the host along one row of the table.
func (d *decision) fire(w When) {
	from := d.state()
	to, err := Next(from, w)
	if err != nil {
		d.Err = fmt.Errorf("host: %s/%s: %w", d.h.Namespace, d.h.Name, err)
		return
	}
	if busyStates[to] && !d.capacity() {
		d.delay()
		return
	}
	d.endSpan(from)
	d.beginSpan(to)
	d.h.Status.Provisioning.State = to
	switch to {
	case hostapi.StateRegistering, hostapi.StateInspecting, hostapi.StateProvisioning:
		d.h.Status.Provisioning.BootMode = bootMode(d.h.Spec)
	default:
	}
	d.soon()
}

// do asks for something to be done to the node; fails is what it is called when
// that is refused. The host has no error for as long as something is tried.
func (d *decision) do(a Action, fails hostapi.ErrorType) {
	d.trying()
	d.prepare(a, fails)
}

// prepare is do for what only prepares another try: the host still has failed.
func (d *decision) prepare(a Action, fails hostapi.ErrorType) {
	if busyStates[d.state()] && occupies(a) && !d.capacity() {
		d.delay()
		return
	}
	d.Action, d.Fails = a, fails
	d.soon()
}

// wait for the node to go on, which will be told.
func (d *decision) wait() {
	d.trying()
	d.Again = d.s.Now.Add(waitTime)
}

// rest until something changes.
func (d *decision) rest() { d.Again = d.s.Now.Add(restTime) }

// soon asks for the next decision as soon as this one is saved.
func (d *decision) soon() { d.Again = d.s.Now }

// clone copies what decisions change in place; all else they replace.
func clone(h hostapi.Host) hostapi.Host {
	h.Annotations = maps.Clone(h.Annotations)
	h.Finalizers = append([]string(nil), h.Finalizers...)
	h.Status.Conditions = append([]hostapi.Condition(nil), h.Status.Conditions...)
	return h
}
