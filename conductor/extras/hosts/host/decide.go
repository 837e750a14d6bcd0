package host

import (
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/firmware"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Facts are the data that a decision rests on.
type Facts struct {
	Host     hostapi.Host
	Secrets  map[string]hostapi.Secret // by name, of SecretNames those that exist
	Hardware *hostapi.Hardware         // of the HardwareData of that name; nil for none
	Node     *node.Node                // the node behind the host; nil for none
	// why the node that was found is not behind the host; "" for none or for Node
	Foreign        string
	Away           string              // why no conductor can act on Node, or make one; "" where one can
	CanMove        bool                // a conductor leads the group that the host's annotation names
	CannotMove     string              // why Node is not moved to the group that the annotation names; "" where it can be
	DataImage      *hostapi.DataImage  // of the host's name; nil for none
	Media          *Media              // of Node, asked for where AsksMedia says so; nil for not asked
	Ports          []node.Port         // of Node
	Inspected      *node.Inspected     // result of Node's last inspection; nil for none
	HardwareReport node.HardwareReport // BIOS settings and firmware, as Node's BMC reports them
	Firmware       firmware.Documents  // the documents about them
	TakenAddresses map[string]string   // addresses in use by ports of other nodes, with the names of these
	// a node with the host's BMC that is not behind it, for a host without a node; "" for none
	NodeWithBMC       string
	Conflicts         []Conflict // hosts that had one of Claims before this one
	Asked             *Asked     // the last request about Node, where AsksWhoChanged says so; nil for unknown
	BusyNodes         int        // other nodes that are inspected, cleaned, deployed or deleted
	ProvisioningLimit int        // how many may be at a time; 0 for any number
	Now               time.Time
	// ChangedAt is when something beside the document changed that an earlier failure may have waited for: a secret, an
	// image, the conductor's own flags. Zero for never.
	ChangedAt time.Time
}

// FirmwareFacts is all of the facts that the documents about firmware rest on.
func (f Facts) FirmwareFacts() firmware.Facts {
	return firmware.Facts{Host: f.Host, Node: f.Node, Report: f.HardwareReport, Documents: f.Firmware, Now: f.Now}
}

// Conflict is an earlier host with the same claim.
type Conflict struct {
	Claim string // as Claims has it
	Host  string // "namespace/name"
}

// Decision is the result of Decide. Its documents are saved once Action has been taken. A conductor that ends between
// the two decides the same again, or finds that the node has gone on.
type Decision struct {
	Host      hostapi.Host
	Action    Action             // nil for nothing to be done
	Fails     hostapi.ErrorType  // type of the error when Action is refused
	Hardware  *hostapi.Hardware  // new content of the HardwareData; nil for no change
	DataImage *hostapi.DataImage // as it becomes; nil for as before
	Events    []hostapi.Event    // recorded once Host is saved: type, reason and message
	RequeueAt time.Time          // time of the next look, even without events; zero for none
	Err       error              // a row the table lacks: a fault of ours

	Components *hostapi.HostFirmwareComponents // with its status as it becomes; nil for as before
}

// How late a decision may be if the notice of a change is lost.
const (
	waitRequeue = time.Minute      // for a node at work
	idleRequeue = 10 * time.Minute // for a host at rest
)

// Decide decides the next act for a host.
func Decide(facts Facts) Decision {
	d := begin(facts)
	d.decide()
	return d.end()
}

// Refused is the decision after the engine has refused the action of an earlier one: nothing was done. The reason
// becomes an error of the host, or of the image that was to be inserted or removed.
func Refused(facts Facts, was Decision, reason string) Decision {
	d := begin(facts)
	switch was.Action.(type) {
	case AttachMedium:
		d.failImage(attaching(facts.DataImage.Spec.URL), reason)
	case DetachMedia:
		d.failImage(detaching(facts.DataImage.Spec.URL), reason)
	default:
		d.failUntilChanged(was.Fails, "%s", reason)
	}
	return d.end()
}

// decision is the scratch pad of one Decide.
type decision struct {
	facts Facts
	h     hostapi.Host // as it becomes
	Decision

	shown hostapi.HostStatus // as it was, with the away message that facts lacks
	away  bool               // no conductor can act on the node
	base  hostapi.HostStatus // status to restore when the host must wait for capacity
	image dataImage          // for the machine's virtual drive

	held   string // why the node does not belong to the host as it is: WorkloadLost, ForeignWorkload; "" for it does
	mended bool   // the node was seen to have the workload of the host
}

func begin(facts Facts) *decision {
	shown := facts.Host.Status
	facts.Host.Status = withoutAway(shown)
	return &decision{facts: facts, shown: shown, h: clone(facts.Host), image: dataImageOf(facts.DataImage)}
}

// decide runs the gates that every host has to pass, and then the handler of its state.
func (d *decision) decide() {
	if d.paused() || d.released() {
		d.facts.Host.Status, d.h.Status = d.shown, d.shown
		return
	}
	d.trackImage()
	if d.restoreStatus() { // saved first: the node behind the host is found by it
		d.requeueNow()
		return
	}
	d.takeHardwareDetails()
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
	(*decision).checkGroup,
	(*decision).checkPowerChange,
	(*decision).checkDelayedHost,
	(*decision).checkInitiateDelete,
	(*decision).checkDetachedHost,
	(*decision).ensureRegistered,
}

// handlers has the handler of each state, for a host that has passed the gates.
var handlers = map[hostapi.State]func(*decision){
	hostapi.StateNone:                    (*decision).handleNone,
	hostapi.StateUnmanaged:               (*decision).handleUnmanaged,
	hostapi.StateRegistering:             (*decision).handleRegistering,
	hostapi.StateMatchProfile:            (*decision).handleMatchProfile,
	hostapi.StateInspecting:              (*decision).handleInspecting,
	hostapi.StatePreparing:               (*decision).handlePreparing,
	hostapi.StateAvailable:               (*decision).handleAvailable,
	hostapi.StateProvisioning:            (*decision).handleProvisioning,
	hostapi.StateProvisioned:             (*decision).handleProvisioned,
	hostapi.StateExternallyProvisioned:   (*decision).handleExternallyProvisioned,
	hostapi.StateDeprovisioning:          (*decision).handleDeprovisioning,
	hostapi.StatePoweringOffBeforeDelete: (*decision).handlePoweringOffBeforeDelete,
	hostapi.StateDeleting:                (*decision).handleDeleting,
}

// released reports whether the host is being deleted and has lost our finalizer.
func (d *decision) released() bool { return d.beingDeleted() && !d.hasFinalizer() }

// end brings the scratch pad into the form of a decision.
func (d *decision) end() Decision {
	if !d.released() && !d.paused() {
		d.setConditions()
	}
	switch {
	case d.away: // LastUpdated is since when an earlier error waits for its next try
		d.h.Status.ErrorMessage = awayMessage(d.facts.Away, d.h.Status.ErrorMessage)
	case !reflect.DeepEqual(d.h.Status, d.facts.Host.Status):
		at := hostapi.At(d.facts.Now)
		d.h.Status.LastUpdated = &at
	}
	d.Host, d.Events = d.h, d.events()
	d.finishImage()
	return d.Decision
}

// source is the host as it becomes, as far as its node is made of it.
func (d *decision) source() translate.Source {
	return translate.Source{Host: d.h, Secrets: d.facts.Secrets}
}

func (d *decision) state() hostapi.State { return d.h.Status.Provisioning.State }

// beingDeleted reports whether the host has a deletion timestamp.
func (d *decision) beingDeleted() bool { return d.h.DeletionTimestamp != nil }

// fire moves the host along one row of the table.
func (d *decision) fire(w Trigger) {
	from := d.state()
	to, err := Next(from, w)
	if err != nil {
		d.Err = fmt.Errorf("host: %s/%s: %w", d.h.Namespace, d.h.Name, err)
		return
	}
	if busyHostStates[to] && !d.ensureCapacity() {
		return
	}
	d.recordStateEnd(from)
	d.recordStateBegin(to)
	d.h.Status.Provisioning.State = to
	switch to {
	case hostapi.StateRegistering, hostapi.StateInspecting, hostapi.StateProvisioning:
		d.h.Status.Provisioning.BootMode = translate.BootMode(d.h.Spec)
	default:
	}
	d.requeueNow()
}

// do asks for an act on the node; fails is the type of the error when it is refused. The host has no error while an act
// is tried.
func (d *decision) do(a Action, fails hostapi.ErrorType) {
	d.clearErrorForTry()
	d.doKeepingError(a, fails)
}

// doKeepingError is do for an act that only prepares another try: the host keeps its error.
func (d *decision) doKeepingError(a Action, fails hostapi.ErrorType) {
	if busyHostStates[d.state()] && occupies(a) && !d.ensureCapacity() {
		return
	}
	d.Action, d.Fails = a, fails
	d.requeueNow()
}

// waitForNode looks again later. The node going on causes a look before that.
func (d *decision) waitForNode() {
	d.clearErrorForTry()
	d.RequeueAt = d.facts.Now.Add(waitRequeue)
}

// requeueLater looks again much later. A change causes a look before that.
func (d *decision) requeueLater() { d.RequeueAt = d.facts.Now.Add(idleRequeue) }

// requeueNow asks for the next decision as soon as this one is saved.
func (d *decision) requeueNow() { d.RequeueAt = d.facts.Now }

// clone copies the parts that decisions change in place. They replace all others.
func clone(h hostapi.Host) hostapi.Host {
	h.Annotations = maps.Clone(h.Annotations)
	h.Finalizers = append([]string(nil), h.Finalizers...)
	h.Status.Conditions = append([]hostapi.Condition(nil), h.Status.Conditions...)
	return h
}
