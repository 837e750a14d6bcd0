package reconciler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// gather collects the facts about a host. It ends early, before it waits for a leader, if the node is in another group
// than the place that the host has.
func (r *Reconciler) gather(ctx context.Context, h hostapi.Host, place string) (facts host.Facts, err error) {
	facts = host.Facts{Host: h, Secrets: map[string]hostapi.Secret{}, ProvisioningLimit: r.ProvisioningLimit, Now: r.Now(),
		Conflicts: r.known.conflicts(keyOf(h)), ChangedAt: r.changedAt(keyOf(h))}
	if facts.BusyNodes, err = r.busy(ctx); err != nil {
		return facts, err
	}
	for _, name := range translate.SecretNames(h) {
		secret, err := r.claim(ctx, h, name)
		switch {
		case err == nil:
			facts.Secrets[name] = secret
		case !errors.Is(err, objects.ErrNotFound):
			return facts, fmt.Errorf("secret %s: %w", name, err)
		}
	}
	data, err := getIfAny[hostapi.HardwareData](ctx, r.Documents, h.Namespace, h.Name)
	if err != nil {
		return facts, fmt.Errorf("HardwareData: %w", err)
	}
	if data != nil {
		facts.Hardware = data.Spec.Hardware
	}
	if facts.Node, facts.Foreign, err = r.ownNode(ctx, h); err != nil {
		return facts, err
	}
	r.known.setGroups(keyOf(h), host.Groups(h, facts.Node))
	if host.NodeGroup(h, facts.Node) != place {
		return facts, errOtherGroup
	}
	facts.Away, facts.CanMove, facts.CannotMove = r.away(&facts), r.canMove(&facts), r.cannotMove(&facts)
	if facts.Node != nil {
		if err := r.gatherNode(ctx, &facts); err != nil {
			return facts, err
		}
	}
	if err := r.gatherImage(ctx, &facts); err != nil {
		return facts, err
	}
	if facts.NodeWithBMC, err = r.nodeWithBMC(ctx, facts); err != nil {
		return facts, err
	}
	facts.TakenAddresses, err = r.takenAddresses(ctx, facts)
	return facts, err
}

// nodeWithBMC finds a node with the BMC of a host that has none yet.
func (r *Reconciler) nodeWithBMC(ctx context.Context, facts host.Facts) (name string, err error) {
	at := host.BMCToEnroll(facts)
	if at == "" {
		return "", nil
	}
	nodes, err := r.engine.NodesAt(ctx, at)
	if err != nil {
		return "", fmt.Errorf("nodes with the BMC %s: %w", at, err)
	}
	for _, n := range nodes {
		if translate.SameMachine(facts.Host, n) {
			r.awaitNode(keyOf(facts.Host), n.UUID)
			return cmp.Or(n.Name, n.UUID), nil
		}
	}
	return "", nil
}

// document is a pointer to a type of documents.
type document[T any] interface {
	*T
	hostapi.Document
}

// getIfAny reads a document that need not be there; nil for none.
func getIfAny[T any, P document[T]](ctx context.Context, k *objects.Keeper, namespace, name string) (*T, error) {
	d, err := objects.Get[T, P](ctx, k, namespace, name)
	switch {
	case errors.Is(err, objects.ErrNotFound):
		return nil, nil //nolint:nilnil // no document is no mistake
	case err != nil:
		return nil, err
	}
	return &d, nil
}

// ownNode is the node behind a host, or the reason why the present node is not the host's: of two documents that name
// the same node, one is a copy of the other with its status. From then on, a change of the node causes a look at the
// host. A change between the first read and that moment caused none, so the node is read again.
func (r *Reconciler) ownNode(ctx context.Context, h hostapi.Host) (n *node.Node, foreign string, err error) {
	for {
		if n, err = r.findNode(ctx, h); n == nil || err != nil {
			return nil, "", err
		}
		if foreign = host.Foreign(h, *n); foreign != "" {
			r.awaitNode(keyOf(h), n.UUID)
			return nil, foreign, nil
		}
		switch owner, known := r.known.bind(n.UUID, keyOf(h)); {
		case owner != keyOf(h):
			return nil, fmt.Sprintf("node %s is that of host %s already: delete this one, which leaves the machine alone",
				cmp.Or(n.Name, n.UUID), owner), nil
		case known:
			return n, "", nil
		}
	}
}

// gatherNode reads the facts that depend on the node.
func (r *Reconciler) gatherNode(ctx context.Context, facts *host.Facts) (err error) {
	if facts.Ports, err = r.engine.Ports(ctx, node.PortQuery{NodeUUID: facts.Node.UUID}); err != nil {
		return fmt.Errorf("ports of node %s: %w", facts.Node.UUID, err)
	}
	if err := r.gatherFirmware(ctx, facts); err != nil {
		return err
	}
	if host.AsksWhoChanged(*facts) {
		history, err := r.engine.History(ctx, facts.Node.UUID)
		if err != nil && !errors.Is(err, node.ErrNotFound) {
			return fmt.Errorf("history of node %s: %w", facts.Node.UUID, err)
		}
		facts.Asked = host.LastAsked(history)
	}
	if facts.Host.Status.Provisioning.State != hostapi.StateInspecting {
		return nil
	}
	found, err := r.engine.Inspected(ctx, facts.Node.UUID)
	switch {
	case err == nil:
		facts.Inspected = &found
	case !errors.Is(err, node.ErrNotFound):
		return fmt.Errorf("inspection of node %s: %w", facts.Node.UUID, err)
	}
	return nil
}

// findNode finds the node behind a host: the one it had, one of its name, or one
// without a name that has a port with its address. It may be another's: see
// host.Foreign.
func (r *Reconciler) findNode(ctx context.Context, h hostapi.Host) (*node.Node, error) {
	switch h.Status.Provisioning.State {
	case hostapi.StateNone, hostapi.StateUnmanaged:
		return nil, nil //nolint:nilnil // no node is no mistake
	default:
	}
	for _, ref := range []string{h.Status.Provisioning.ID, hostapi.NodeName(h.Namespace, h.Name), h.Name} {
		if ref == "" {
			continue
		}
		n, err := r.engine.Node(ctx, ref)
		if err == nil && ref == h.Name && (n.Owner != "" || n.Lessee != "") {
			continue // a project's, which keeps no host from being registered
		}
		if err == nil {
			return &n, nil
		}
		if !errors.Is(err, node.ErrNotFound) {
			return nil, fmt.Errorf("node %s: %w", ref, err)
		}
	}
	for _, address := range host.Addresses(h, nil) { // the boot MAC, if it is given
		if n, err := r.nodeWithPort(ctx, address); err != nil || n != nil && n.Name == "" {
			return n, err
		}
	}
	return nil, nil //nolint:nilnil // no node is no mistake
}

// nodeWithPort is the node that has a port with an address, in lower case; nil for none.
func (r *Reconciler) nodeWithPort(ctx context.Context, address string) (*node.Node, error) {
	ports, err := r.engine.Ports(ctx, node.PortQuery{Address: address})
	if err != nil || len(ports) == 0 {
		return nil, err
	}
	n, err := r.engine.Node(ctx, ports[0].NodeUUID)
	if errors.Is(err, node.ErrNotFound) { // deleted just now
		return nil, nil //nolint:nilnil // no node is no mistake
	}
	return &n, err
}

// takenAddresses finds which of the machine's addresses are ports of other nodes.
func (r *Reconciler) takenAddresses(ctx context.Context, facts host.Facts) (map[string]string, error) {
	taken := map[string]string{}
	for _, address := range host.Addresses(facts.Host, facts.Hardware) {
		if slices.ContainsFunc(facts.Ports, func(p node.Port) bool { return p.Address == address }) {
			continue
		}
		n, err := r.nodeWithPort(ctx, address)
		if err != nil {
			return nil, fmt.Errorf("ports with address %s: %w", address, err)
		}
		if n == nil || facts.Node != nil && n.UUID == facts.Node.UUID {
			continue
		}
		r.awaitNode(keyOf(facts.Host), n.UUID)
		taken[address] = n.UUID
		if n.Name != "" {
			taken[address] = n.Name
		}
	}
	return taken, nil
}
