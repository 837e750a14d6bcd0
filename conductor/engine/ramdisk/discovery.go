package ramdisk

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// The bounds of the data of one machine: many times the data of real machines.
const (
	maxDiscovered      = 1 << 20 // bytes
	maxDiscoveredCards = 64
)

// Discovers reports whether machines that are not enrolled are to be inspected.
func (e *Ramdisks) Discovers() bool { return e.Discovery.Driver != "" }

// Discover accepts the inspection data of a machine at from that no node waits for. The machine becomes a node in
// enroll. When it calls again, that node is updated, until an operator takes it on. Any other caller gets the answer
// "not found". The request is nil unless the agent is to make a user of its BMC.
func (e *Ramdisks) Discover(ctx context.Context, data agentapi.Inspection, raw []byte,
	from netip.Addr) (node.Node, *agentapi.BMCUserRequest, error) {
	if !e.Discovers() {
		return node.Node{}, nil, unknownRamdisk()
	}
	macs, err := checkDiscovered(&data, raw)
	if err != nil {
		return node.Node{}, nil, err
	}
	if err := e.checkOwnLease(ctx, macs, from); err != nil {
		return node.Node{}, nil, err
	}
	leave, err := e.unknown.begin(ctx, identityKeys(macs, data))
	if err != nil {
		return node.Node{}, nil, err
	}
	defer leave()
	n, err := e.discovered(ctx, macs, data)
	if err != nil {
		return n, nil, err
	}
	if n.UUID == "" {
		made, ok := e.unknown.reserve(e.machines.undecided, e.Discovery.Limit)
		if !ok {
			return n, nil, e.noRoom(ctx, macs)
		}
		defer made()
		if n, err = e.newDiscovered(data.Inventory); err != nil {
			return n, nil, err
		}
	}
	n, request := e.askForBMCUser(n)
	ev := plan.Inspected{Data: data, Raw: json.RawMessage(raw)}
	f := plan.Facts{Settings: e.Settings}
	if f.Ports, err = e.Store.Ports(ctx, node.PortQuery{NodeUUID: n.UUID}); err != nil {
		return n, nil, err
	}
	if f.Taken, err = e.Taken(ctx, n.UUID, macs); err != nil {
		return n, nil, err
	}
	change := plan.Discovered(n, f, ev, from.Unmap(), e.Now())
	saved, err := e.Commit(ctx, *change)
	if errors.Is(err, node.ErrStale) || errors.Is(err, node.ErrConflict) {
		return n, nil, e.Locked(n.UUID) // an operator was faster: machines call again
	}
	if err == nil && change.Insert != nil {
		e.Log.Info("machine discovered", "node", saved.UUID, "from", from, "macs", macs)
	}
	return saved, request, err
}

// checkDiscovered refuses more data than a machine can have. It removes an invalid UUID of the system. It returns the
// Ethernet addresses.
func checkDiscovered(data *agentapi.Inspection, raw []byte) ([]string, error) {
	if err := data.Validate(); err != nil {
		return nil, node.Refuse(node.Invalid, "%v", err)
	}
	if len(raw) > maxDiscovered {
		return nil, node.Refuse(node.Invalid, "the inspection data of an unknown machine has %d bytes, at most %d "+
			"are taken",
			len(raw), maxDiscovered)
	}
	macs := plan.Inspected{Data: *data}.Needs(node.Node{}).Addresses
	if len(macs) == 0 || len(macs) > maxDiscoveredCards {
		return nil, node.Refuse(node.Invalid,
			"the inspection data of an unknown machine has %d Ethernet interfaces, expected 1 to %d", len(macs),
			maxDiscoveredCards)
	}
	data.SystemUUID = node.SystemUUID(data.SystemUUID)
	return macs, nil
}

// checkOwnLease refuses a caller if our DHCP lent the caller's address to a machine with none of these MACs. It also
// refuses a caller at an address other than the leases of its MACs.
func (e *Ramdisks) checkOwnLease(ctx context.Context, macs []string, from netip.Addr) error {
	at, own, other := from.Unmap().String(), false, ""
	leases, err := e.Store.LeasesOf(ctx, macs, at)
	if err != nil {
		return err
	}
	var given []string
	for _, l := range leases {
		mine := slices.Contains(macs, strings.ToLower(l.MAC))
		if mine {
			given = append(given, l.IP)
		}
		own = own || mine && l.IP == at
		if !mine && l.IP == at && (l.Static || l.Expires.After(e.Now())) {
			other = l.MAC
		}
	}
	if !own && other != "" { // its own besides: two racks that are built alike
		e.warnOf(ctx, "discovery refused: the caller's address is lent to a machine it does not claim to be", "",
			"from",
			from, "lent_to", other)
		return unknownRamdisk()
	}
	if (e.RamdiskAuth.Leases || len(given) > 0) && !own {
		e.warnOf(ctx, "discovery refused: the machine was lent another address", "", "from", from, "lent", given)
		return unknownRamdisk()
	}
	return nil
}

// discovered finds the node that an earlier call has made; the zero node if there is none. It refuses a machine that
// already belongs to an enrolled node.
func (e *Ramdisks) discovered(ctx context.Context, macs []string, data agentapi.Inspection) (node.Node, error) {
	for _, mac := range macs {
		n, _, err := e.NodeByMAC(ctx, mac)
		switch {
		case err == nil && plan.Undecided(n):
			return n, nil
		case err == nil:
			return n, unknownRamdisk()
		case !errors.Is(err, node.ErrNotFound):
			return n, err
		}
	}
	if err := e.machines.fill(ctx, e.Store); err != nil {
		return node.Node{}, err
	}
	for _, uuid := range e.machines.like(data) {
		n, err := e.Store.Node(ctx, uuid)
		switch {
		case errors.Is(err, node.ErrNotFound): // deleted just now
		case err != nil:
			return n, err
		case plan.Undecided(n):
			return n, nil
		default:
			e.warnOf(ctx, "discovery refused: the machine is known", n.UUID, "macs", macs)
			return node.Node{}, unknownRamdisk()
		}
	}
	return node.Node{}, nil
}

// noRoom refuses another unknown machine.
func (e *Ramdisks) noRoom(ctx context.Context, macs []string) error {
	e.warnOf(ctx, "discovery refused: too many discovered nodes are undecided; manage or delete some", "",
		"undecided", e.machines.undecided(), "limit", e.Discovery.Limit, "macs", macs)
	return node.Refuse(node.Busy, "No room for another unknown machine; try again later")
}

// newDiscovered returns a new node of the driver for discovered nodes, with the address of its BMC if that is known. An
// operator must add the other settings of the driver: a machine could name any address, and be sent a password.
func (e *Ramdisks) newDiscovered(inv agentapi.Inventory) (node.Node, error) {
	n := node.Node{UUID: uuid.NewString(), Driver: e.Discovery.Driver, ProvisionState: node.Enroll, CreatedAt: e.Now()}
	if err := e.FillInterfaces(&n); err != nil {
		return n, err
	}
	for _, a := range reportedAddresses(inv) {
		if a = a.Unmap(); a.IsGlobalUnicast() && a.Zone() == "" {
			// Some vendors give one address to all BMCs: of several machines one node has it.
			if key, value, ok := node.BMCSetting(n.Driver, a); ok && len(e.machines.at(a.String())) == 0 {
				n.DriverInfo = map[string]any{key: value}
			}
			break
		}
	}
	return n, nil
}
