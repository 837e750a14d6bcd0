package plan

import (
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// verb is the work that an operator's request starts.
type verb struct {
	activity string // "" for verbs that only move the node, or end a run
	check    func(n node.Node, r Request) error
	act      func(d *decision) // instead of beginning an activity
}

// verbs is every verb of the table.
var verbs = map[node.Event]verb{
	node.Manage:   {activity: "verify"}, // from enroll; elsewhere a plain move
	node.Provide:  {activity: "clean", check: canProvide},
	node.Clean:    {activity: "clean", check: canClean},
	node.Inspect:  {activity: "inspect", check: canInspect},
	node.Adopt:    {activity: "adopt", check: canAdopt},
	node.Deploy:   {activity: "deploy", check: canDeploy},
	node.Rebuild:  {activity: "deploy", check: canDeploy},
	node.Delete:   {activity: "delete", check: notProtected},
	node.RescueIt: {activity: "rescue", check: canRescue},
	node.Unrescue: {activity: "unrescue"},
	node.Service:  {activity: "service", check: canService},
	node.Abort:    {act: (*decision).abort},
	node.Unhold:   {act: (*decision).unhold},
}

// Needs of a verb depend on where it leads.
func (r Request) Needs(n node.Node) Need {
	deploys := r.Verb == node.Deploy || r.Verb == node.Rebuild
	need := Need{
		HardwareReport: r.framework() != "", // its steps are checked against those the agent listed
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

// handle takes an operator's verb: refused with a reason, or begun.
func (r Request) handle(d *decision) error {
	if d.f.EffectPending && !d.abortsAmid(r) || d.childBusy() {
		return d.locked()
	}
	if !node.Requestable(d.n.ProvisionState, r.Verb) {
		return node.Refuse(node.InvalidState,
			"The requested action %q can not be performed on node %q while it is in state %q.", r.Verb, d.n.UUID,
			d.n.ProvisionState)
	}
	if err := d.checkLimit(r.Verb); err != nil {
		return err
	}
	if uuid := r.Needs(d.n).System; uuid != "" {
		if err := d.checkSystem(uuid); err != nil {
			return err
		}
	}
	if err := d.noteImage(r); err != nil {
		return err
	}
	v := verbs[r.Verb]
	if v.check != nil {
		if err := v.check(d.n, r); err != nil {
			return err
		}
	}
	if err := checkListed(d.n, r, d.f.Settings.StepLimit); err != nil {
		return err
	}
	if err := d.checkSteps(r); err != nil {
		return err
	}
	if err := d.checkImage(r); err != nil {
		return err
	}
	if intoRamdisk[r.Verb] {
		if err := CheckBootFiles(d.n); err != nil {
			return err
		}
	}
	if err := CheckNetwork(d.n, d.f.Ports, d.f.Settings, r.Verb); err != nil {
		return err
	}
	if err := d.checkVIFs(r.Verb); err != nil {
		return err
	}
	if err := d.checkStranded(r.Verb); err != nil {
		return err
	}
	if v.act != nil {
		v.act(d)
		return d.err
	}
	d.keepInstance(r)
	d.held = d.n.ProvisionState.Class() == node.Held
	d.n.LastError, d.n.Run = "", nil
	d.fire(r.Verb)
	if d.n.ProvisionState.Class() == node.Working {
		run := node.Run{Activity: v.activity}
		if r.Verb == node.Deploy || r.Verb == node.Rebuild {
			run = DeployFor(d.n, r.Project)
		}
		run.ByHand, run.Listed, run.NoRamdisk, run.Doubts = r.Verb == node.Clean, d.asked(v.activity, r), r.noRamdisk(),
			d.doubts
		d.startRun(run)
		return d.err
	}
	d.leaveRamdiskNetwork()
	return d.err
}

// noteImage records the known facts of a deploy's images.
func (d *decision) noteImage(r Request) error {
	if r.Verb != node.Deploy && r.Verb != node.Rebuild {
		return nil
	}
	if err := sameImage(d.n, r); err != nil {
		return err
	}
	if r.Image != nil {
		d.n = WithImage(d.n, *r.Image)
	}
	d.n = noteImages(d.n, r.Project, d.now)
	return nil
}

// DeployFor is the run of a deploy that a user of a project asks for; "" is the whole system.
func DeployFor(n node.Node, project string) node.Run {
	return node.Run{Activity: "deploy", Project: project, Image: node.GlanceImage(askedImage(n))}
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

func canProvide(n node.Node, _ Request) error {
	if n.Retired {
		return node.Refuse(node.InvalidState, "Node %s is retired: clear retired before it is provided", n.UUID)
	}
	return nil
}

func notProtected(n node.Node, _ Request) error {
	if n.Protected {
		return node.Refuse(node.Forbidden, "Node %s is protected and can not be undeployed, rebuilt or deleted", n.UUID)
	}
	return nil
}

func canInspect(n node.Node, _ Request) error {
	switch name := n.Implementation("inspect"); {
	case name == "agent", name == "redfish", name == "fake":
		return nil
	case n.Off("inspect"):
		return node.Refuse(node.Invalid,
			"node %s has inspect interface no-inspect; set inspect_interface to agent or redfish", n.UUID)
	default:
		return node.Refuse(node.Invalid,
			"node %s has inspect interface %q, which is not built into this release; set inspect_interface to agent or redfish",
			n.UUID, name)
	}
}

func canClean(n node.Node, r Request) error {
	if err := approved(n, r); err != nil {
		return err
	}
	if len(r.steps()) == 0 {
		return node.Refuse(node.Invalid, `"clean_steps" is required when setting target provision state to clean`)
	}
	return nil
}

func canService(n node.Node, r Request) error {
	if err := approved(n, r); err != nil {
		return err
	}
	if len(r.steps()) == 0 {
		return node.Refuse(node.Invalid, `"service_steps" is required when setting target provision state to service`)
	}
	return nil
}

// approved: a runbook is for the nodes that have one of its traits. Until
// microversion 1.112 that is its name.
func approved(n node.Node, r Request) error {
	book := r.Runbook
	switch {
	case book == nil || slices.ContainsFunc(book.Traits, func(t string) bool { return slices.Contains(n.Traits, t) }):
		return nil
	case len(book.Traits) == 0:
		return node.Refuse(node.Invalid,
			"Runbook %s has no traits configured. Please ask an administrator to add traits to the runbook.", book.Name)
	}
	return node.Refuse(node.Invalid,
		"This runbook has not been approved for use on this node %s. The node does not have any of the runbook's traits "+
			"%v. Please ask an administrator to add a matching trait to your node.", n.UUID, book.Traits)
}

// canAdopt: the machine runs a workload, which only a deploy interface that is
// known can look after later.
func canAdopt(n node.Node, _ Request) error {
	if _, ok := deployPlans[n.Interfaces["deploy"]]; !ok {
		return CheckInstance(n)
	}
	return nil
}

func canDeploy(n node.Node, r Request) error {
	if n.Maintenance {
		return node.Refuse(node.Invalid,
			"The deploy operation can't be performed on node %s because it's in maintenance mode.", n.UUID)
	}
	switch {
	case n.ProvisionState == node.Active:
		if err := notProtected(n, r); err != nil {
			return err
		}
	case n.ProvisionState == node.Error && n.InstanceUUID == "":
		// Ironic would write another tenant's image here, onto disks that were not cleaned.
		return node.Refuse(node.InvalidState,
			"Node %s is in error, and its disks may hold what its last instance left: delete it again, or set instance_uuid "+
				"to that instance and rebuild it", n.UUID)
	}
	if err := CheckInstance(n); err != nil {
		return err
	}
	return checkTraitsOf(n)
}
