package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// strange is a node that does not concern the owner of an allocation.
const strange = "not owned by or on loan to the owner"

// changingPower is a node in its first power change: its power state will be known soon.
const changingPower = "with a power change under way"

// misfits is every reason why a node does not suit an allocation, in the order
// they are looked for: each node counts for the first that is true of it.
var misfits = []struct {
	label string
	of    func(a *node.Allocation, n *node.Node) bool
}{
	{"not of the class", func(a *node.Allocation, n *node.Node) bool { return n.ResourceClass != a.ResourceClass }},
	{"not among the candidates", func(a *node.Allocation, n *node.Node) bool {
		return len(a.CandidateNodes) > 0 && !slices.Contains(a.CandidateNodes, n.UUID)
	}},
	{strange, func(a *node.Allocation, n *node.Node) bool {
		return a.Owner != "" && n.Owner != a.Owner && n.Lessee != a.Owner
	}},
	{"part of another node", func(_ *node.Allocation, n *node.Node) bool { return n.ParentNode != "" }},
	{"with an instance", func(_ *node.Allocation, n *node.Node) bool {
		return n.InstanceUUID != "" || n.AllocationUUID != ""
	}},
	{"not available", func(_ *node.Allocation, n *node.Node) bool { return n.ProvisionState != node.Available }},
	{"retired", func(_ *node.Allocation, n *node.Node) bool { return n.Retired }},
	{"in maintenance", func(_ *node.Allocation, n *node.Node) bool { return n.Maintenance }},
	{"of unknown power state", func(_ *node.Allocation, n *node.Node) bool {
		return n.PowerState == "" && n.TargetPowerState == ""
	}},
	{"without the traits", func(a *node.Allocation, n *node.Node) bool { return len(lacking(a, n)) > 0 }},
	{changingPower, func(_ *node.Allocation, n *node.Node) bool { return n.PowerState == "" }},
}

// Misfit says why a node does not suit an allocation, "" when it does. Whether
// it is reserved is not asked: that passes.
func Misfit(a *node.Allocation, n *node.Node) string {
	for _, m := range misfits {
		if m.of(a, n) {
			return m.label
		}
	}
	return ""
}

// lacking is the traits that a wants and n has not.
func lacking(a *node.Allocation, n *node.Node) []string {
	var lack []string
	for _, t := range a.Traits {
		if !slices.Contains(n.Traits, t) {
			lack = append(lack, t)
		}
	}
	return lack
}

// Candidates returns the nodes that suit a, in the order in which they are to be tried. The node with a's name comes
// first, as in Ironic. Then follow the candidates that a names, in their order, or all nodes in the order that shuffle
// makes: so that allocations made at once try different nodes.
func Candidates(a *node.Allocation, nodes []*node.Node, shuffle func(n int, swap func(i, j int))) []*node.Node {
	var fit []*node.Node
	for _, n := range nodes {
		if Misfit(a, n) == "" {
			fit = append(fit, n)
		}
	}
	shuffle(len(fit), func(i, j int) { fit[i], fit[j] = fit[j], fit[i] })
	rank := func(n *node.Node) int {
		if a.Name != "" && n.Name == a.Name {
			return -1
		}
		return max(0, slices.Index(a.CandidateNodes, n.UUID))
	}
	slices.SortStableFunc(fit, func(x, y *node.Node) int { return cmp.Compare(rank(x), rank(y)) })
	return fit
}

// Search counts the nodes that were considered for one allocation, by the reason why they do not suit.
type Search struct {
	looked int
	failed map[string]int // by label of misfits, "" for those that suited
}

// Look counts a node. An allocation names nodes that do not concern its owner only when it
// names them: the number of other projects' nodes is not for the caller to know.
func (s *Search) Look(a *node.Allocation, n *node.Node) {
	if s.failed == nil {
		s.failed = map[string]int{}
	}
	misfit := Misfit(a, n)
	if misfit == strange && len(a.CandidateNodes) == 0 {
		return
	}
	s.looked++
	s.failed[misfit]++
}

// Suitable is the number of nodes that suit, or will when their power change has ended.
func (s *Search) Suitable() int { return s.failed[""] + s.failed[changingPower] }

// InVain returns the allocation with the reason why it has no node: in Ironic's words, with the number of nodes that
// failed each criterion. It counts the candidates that the allocation names, or else the nodes of its class. busy is
// the number of suitable nodes that were reserved for as long as it has waited.
func (s *Search) InVain(a node.Allocation, busy int) node.Allocation {
	reason := "no available nodes match the resource class " + a.ResourceClass
	switch {
	case busy > 0:
		reason = fmt.Sprintf("could not reserve any of %d suitable nodes, each of which has an operation under way", busy)
	case s.failed[""] > 0:
		reason = "all nodes were filtered out during reservation"
	case s.failed["without the traits"] > 0:
		reason = "no suitable nodes have the requested traits " + strings.Join(a.Traits, ", ")
	case len(a.CandidateNodes) > 0:
		reason = "none of the requested nodes are available and match the resource class " + a.ResourceClass
	}
	return Unallocable(a, errors.New(reason+s.counts(&a)+"."))
}

// Unallocable is the allocation with the reason why it can have no node.
func Unallocable(a node.Allocation, why error) node.Allocation {
	a.State, a.NodeUUID = node.AllocationError, ""
	a.LastError = Clip(fmt.Sprintf("Failed to process allocation %s: %v", a.UUID, why))
	return a
}

// counts lists for each criterion how many nodes failed it.
func (s *Search) counts(a *node.Allocation) string {
	if s.looked == 0 {
		return ""
	}
	var parts []string
	for _, m := range misfits {
		if n := s.failed[m.label]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, m.label))
		}
	}
	if n := s.failed[""]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d suitable", n))
	}
	whose := "nodes of the class"
	if len(a.CandidateNodes) > 0 {
		whose = "candidates"
	}
	return fmt.Sprintf(" (of %d %s: %s)", s.looked, whose, strings.Join(parts, ", "))
}

// Assign gives a node to an allocation; both are to be saved in one change.
func Assign(a node.Allocation, n node.Node) (node.Allocation, node.Node) {
	n = n.Clone()
	a.State, a.NodeUUID, a.LastError = node.AllocationActive, n.UUID, ""
	n.InstanceUUID, n.AllocationUUID = a.UUID, a.UUID
	traits := make([]any, len(a.Traits)) // as they would come from a client
	for i, t := range a.Traits {
		traits[i] = t
	}
	if n.InstanceInfo == nil {
		n.InstanceInfo = map[string]any{}
	}
	n.InstanceInfo["traits"] = traits
	return a, n
}

// Backfill checks whether a node that runs an instance already can belong to a new allocation that names it. The node
// must have this instance: otherwise this would be a way to bypass the choice of a node. It fills the allocation's
// missing fields from the node.
func Backfill(a node.Allocation, n node.Node) (node.Allocation, error) {
	a.UUID = cmp.Or(a.UUID, n.InstanceUUID)
	a.ResourceClass = cmp.Or(a.ResourceClass, n.ResourceClass)
	if n.InstanceUUID != "" && n.InstanceUUID != a.UUID {
		return a, node.Refuse(node.Conflict, "Node %s is associated with instance %s.", n.UUID, n.InstanceUUID)
	}
	if n.AllocationUUID != "" && n.AllocationUUID == a.UUID {
		return a, node.Refuse(node.Conflict, "%s", node.Exists("allocation", "UUID", a.UUID))
	}
	var wrong []string
	if n.ProvisionState != node.Active {
		wrong = append(wrong,
			fmt.Sprintf("Node must be in the \"active\" state, but the current state is %q", n.ProvisionState))
	}
	if a.ResourceClass != n.ResourceClass {
		wrong = append(wrong, fmt.Sprintf("Resource class %s does not match the requested resource class %s", n.ResourceClass,
			a.ResourceClass))
	}
	if lack := lacking(&a, &n); lack != nil {
		wrong = append(wrong, "The node does not have the requested traits "+strings.Join(lack, ", "))
	}
	if len(a.CandidateNodes) > 0 && !slices.Contains(a.CandidateNodes, n.UUID) {
		wrong = append(wrong, fmt.Sprintf("Candidate nodes must be empty or contain the target node, but got %v",
			a.CandidateNodes))
	}
	if wrong != nil {
		return a, node.Refuse(node.Invalid, "Cannot backfill an allocation for node %s: %s.", n.UUID,
			strings.Join(wrong, "; "))
	}
	return a, nil
}
