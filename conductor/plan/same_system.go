package plan

import (
	"cmp"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// knowSystem keeps the UUID of the node's machine, unless that is the machine of another node.
func (d *decision) knowSystem(said string) error {
	uuid := node.SystemUUID(said)
	if uuid == "" {
		return nil
	}
	if err := d.checkSystem(uuid); err != nil {
		return err
	}
	if node.SystemKey(SystemUUID(d.n)) == node.SystemKey(uuid) {
		return nil
	}
	if d.n.DriverInternalInfo == nil {
		d.n.DriverInternalInfo = map[string]any{}
	}
	d.n.DriverInternalInfo[systemUUID], d.dirty = uuid, true
	return nil
}

// ForgetSystem removes the UUID of the machine from an edited node that names another machine now.
func ForgetSystem(old node.Node, n *node.Node) {
	was, _ := old.Machine()
	if is, _ := n.Machine(); is != was && !Undecided(*n) {
		delete(n.DriverInternalInfo, systemUUID)
	}
}

// machineOfOwn refuses to manage a discovered node with the machine of another node.
func machineOfOwn(d *decision, _ Request) error {
	if uuid := node.SystemUUID(SystemUUID(d.n)); uuid != "" {
		return d.checkSystem(uuid)
	}
	return nil
}

// checkSystem returns an error if another node has the machine with this UUID. Nodes that an operator marked as sharing
// their machine are exempt, as are parent and child. Discovered nodes that no operator has taken on do not count: any
// sender that reaches the conductor could make one with any UUID.
func (d *decision) checkSystem(uuid string) error {
	if d.n.SharesMachine {
		return nil
	}
	for i := range d.f.SameSystem {
		o := &d.f.SameSystem[i]
		if o.UUID == d.n.UUID || o.SharesMachine || Undecided(*o) || node.Related(&d.n, o) {
			continue
		}
		return node.Refuse(node.Conflict, "the machine's UUID %s is that of %s too: two addresses name one machine, and "+
			"either node would wipe it under the other; delete one of the nodes. Where two nodes of one machine are right: "+
			"ferrite node set %s --driver-info %s_address=ADDRESS --force (REST: the header X-Ferrite-Force: true)",
			uuid, nameForOwners(o, &d.n), cmp.Or(d.n.Name, d.n.UUID), d.n.Driver)
	}
	return nil
}

// nameForOwners names a node in an error of another one, unless a project that sees the error may not see the node.
func nameForOwners(o, shownAt *node.Node) string {
	for _, project := range []string{shownAt.Owner, shownAt.Lessee} {
		if project != "" && o.Owner != project && o.Lessee != project {
			return "another node"
		}
	}
	if o.Name == "" {
		return "node " + o.UUID
	}
	return fmt.Sprintf("node %s (%s)", o.Name, o.UUID)
}
