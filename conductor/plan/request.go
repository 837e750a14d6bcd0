package plan

import (
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// verb is the answer to an operator's request: its checks in their order, then its work.
type verb struct {
	activity string          // "" for verbs that only move the node, or end a run
	act      func(*decision) // instead of beginning an activity
	checks   []check
}

// check refuses a request with a reason, or leaves it to the next check.
type check func(d *decision, r Request) error

// ofEvery are the checks of all verbs, which come first.
var ofEvery = []check{
	notReserved, // two effects, or a verb amid the step of a parent, would act on one machine at a time
	requestable, // the state has the verb
}

// verbs is every verb of the table.
var verbs = map[node.Event]verb{
	node.Manage: {activity: "verify", checks: []check{ // from enroll; elsewhere a plain move
		machineOfOwn, // either of two nodes with one machine would wipe it under the other
	}},
	node.Provide: {activity: "clean", checks: []check{
		notRetired,          // a retired machine gets no further instance
		cleaningFits,        // the machine must not go down for a runbook that cannot clean it
		noPasswords,         // iPXE receives the URLs of the ramdisk in the clear
		networkFor("clean"), // the ramdisk is booted in a network that can be attached
	}},
	node.Clean: {activity: "clean", checks: []check{
		underLimit,          // a mass wipe, by mistake or malice, stops here
		approved,            // a runbook is for the nodes that have one of its traits
		stepsGiven,          // a manual clean without steps would do nothing
		wellListed,          // the steps are valid by themselves
		stepsAllowed,        // the operator has disallowed none of them
		stepsOffered,        // the node has them: a machine must not go down for a typing error
		noPasswords,         // iPXE receives the URLs of the ramdisk in the clear
		networkFor("clean"), // the ramdisk is booted in a network that can be attached
	}},
	node.Inspect: {activity: "inspect", checks: []check{
		inspectable,           // the inspect interface is one of this release
		noPasswords,           // iPXE receives the URLs of the ramdisk in the clear
		networkFor("inspect"), // the ramdisk is booted in a network that can be attached
	}},
	node.Adopt: {activity: "adopt", checks: []check{
		adoptable, // the deploy interface can look after the workload later
	}},
	node.Deploy:  {activity: "deploy", checks: ofDeploy},
	node.Rebuild: {activity: "deploy", checks: ofDeploy},
	// No check of the ramdisk: its settings must not keep a tenant's system from being taken down.
	node.Delete: {activity: "delete", checks: []check{
		underLimit,   // a mass wipe, by mistake or malice, stops here
		notProtected, // the owner has forbidden it
	}},
	node.RescueIt: {activity: "rescue", checks: []check{
		notInMaintenance("rescue"), // an operator is at work on the machine
		rescuable,                  // the rescue interface is one of this release
		passwordGiven,              // nothing else lets a person in
		noPasswords,                // iPXE receives the URLs of the ramdisk in the clear
		networkFor("rescue"),       // the ramdisk is booted in a network that can be attached
		notStranded,                // a user logs in: never in the network of an earlier ramdisk
	}},
	node.Unrescue: {activity: "unrescue", checks: []check{
		notStranded, // the owner's system starts
	}},
	node.Service: {activity: "service", checks: []check{
		approved,              // a runbook is for the nodes that have one of its traits
		stepsGiven,            // a service without steps would do nothing
		wellListed,            // the steps are valid by themselves
		stepsAllowed,          // the operator has disallowed none of them
		stepsOffered,          // the node has them, and none erases its workload
		reattachable,          // there are networks to attach again, and the machine is not to leave them meanwhile
		noPasswords,           // iPXE receives the URLs of the ramdisk in the clear
		networkFor("service"), // the ramdisk is booted in a network that can be attached
		notStranded,           // the owner's system starts at the end
	}},
	node.Abort: {act: (*decision).abort, checks: []check{
		backNotStranded, // from service failed the owner's system starts
	}},
	node.Unhold: {act: (*decision).unhold},
}

// ofDeploy are the checks of a deploy, and of a rebuild.
var ofDeploy = []check{
	underLimit,                 // too many at once slow each other until they time out
	deployFound,                // the image decides for autodetect; the checks below see it
	imageTaken,                 // it is the image that was looked at; the checks below see it
	notInMaintenance("deploy"), // an operator is at work on the machine
	bootModeAllowed,            // the operator forbids some modes
	overwritable,               // the disks hold nothing that is protected, or another tenant's
	instanceComplete,           // the deploy interface finds all that it needs in instance_info
	traitsHeld,                 // they choose deploy templates, and so steps
	wellListed,                 // the steps are valid by themselves
	stepsAllowed,               // the operator has disallowed none of them
	stepsOffered,               // the node has them: a machine must not go down for a typing error
	formatPermitted,            // the agent would refuse it, after the wipe
	imageFits,                  // an image known to be missing or too large would fail after the wipe
	noPasswords,                // iPXE receives the URLs of the ramdisk in the clear
	networkFor("deploy"),       // the ramdisk is booted in a network that can be attached
	vifAttached,                // without one the deployed system has no network
	notStranded,                // the owner's system starts at the end
}

// Needs of a verb depend on where it leads.
func (r Request) Needs(n node.Node) Need {
	deploys := r.Verb == node.Deploy || r.Verb == node.Rebuild
	need := Need{
		// its steps are checked against those the agent listed
		HardwareReport: r.framework() != "" || r.cleansNext(),
		Cleaning:       r.cleansNext(),
		Inventory:      Erases(n) || r.Image != nil && r.Image.Size > 0,
		Bonds:          n.Networked() && r.Verb == node.Delete || tearsDown(n),
	}
	_, need.Counts = limits()[r.Verb]
	if deploys {
		need.Templates = instanceTraits(n)
	}
	if r.Verb == node.Manage { // of a discovered node
		need.System = node.SystemUUID(SystemUUID(n))
	}
	return need
}

// cleansNext reports whether a verb may begin an automated cleaning at once.
func (r Request) cleansNext() bool { return r.Verb == node.Provide || r.Verb == node.Delete }

// handle takes an operator's verb: refused with a reason, or begun.
func (r Request) handle(d *decision) error {
	row := verbs[r.Verb]
	for _, check := range slices.Concat(ofEvery, row.checks) {
		if err := check(d, r); err != nil {
			return err
		}
	}
	if row.act != nil {
		row.act(d)
		return d.err
	}
	d.keepInstance(r)
	if r.framework() == node.DeploySteps {
		d.setLessee(r)
	}
	d.held = d.n.ProvisionState.Class() == node.Held
	d.n.LastError, d.n.Run = "", nil
	d.fire(r.Verb)
	if d.n.ProvisionState.Class() != node.Working {
		d.leaveRamdiskNetwork()
		return d.err
	}
	run := node.Run{Activity: row.activity}
	if row.activity == "deploy" {
		run = DeployFor(d.n, r.Project)
	}
	run.ByHand, run.Listed, run.NoRamdisk, run.Doubts = r.Verb == node.Clean, d.asked(row.activity, r), r.noRamdisk(),
		d.doubts
	d.startRun(run)
	return d.err
}

func notReserved(d *decision, r Request) error {
	if d.f.EffectPending && !d.abortsAmid(r) || d.childBusy() {
		return d.locked()
	}
	return nil
}

func requestable(d *decision, r Request) error {
	if node.Requestable(d.n.ProvisionState, r.Verb) {
		return nil
	}
	return node.Refuse(node.InvalidState,
		"The requested action %q can not be performed on node %q while it is in state %q.", r.Verb, d.n.UUID,
		d.n.ProvisionState)
}

// notInMaintenance refuses an activity in Ironic's words.
func notInMaintenance(activity string) check {
	return func(d *decision, _ Request) error {
		if !d.n.Maintenance {
			return nil
		}
		return node.Refuse(node.Invalid,
			"The %s operation can't be performed on node %s because it's in maintenance mode.", activity, d.n.UUID)
	}
}

// abortsAmid reports an abort, which an operator may request while any effect is pending. The outcome of an aborted
// run's effect is dropped, and a chore goes on. From service failed it needs the machine restarted, which a power
// change has begun.
func (d *decision) abortsAmid(r Request) bool {
	return r.Verb == node.Abort && (d.n.Run != nil || changesPower(d.n.Chore))
}

// keepInstance stores a verb's values for the instance.
func (d *decision) keepInstance(r Request) {
	for key, value := range map[string]any{"configdrive": r.ConfigDrive, rescueHash: r.RescueHash} {
		if value == nil || value == "" {
			continue
		}
		if d.n.InstanceInfo == nil {
			d.n.InstanceInfo = map[string]any{}
		}
		d.n.InstanceInfo[key] = value
	}
}

func (d *decision) locked() error {
	return node.LockedBy(d.n.UUID, d.f.Settings.ConductorName)
}
