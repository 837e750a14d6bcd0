package ramdisk

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// lookupStates are the states in which a ramdisk may look up its node (Ironic's LOOKUP_ALLOWED_STATES); fast track adds
// the second group.
var (
	lookupStates = map[node.State]bool{
		node.Deploying: true, node.DeployWait: true, node.Cleaning: true, node.CleanWait: true,
		node.Inspecting: true, node.InspectWait: true, node.Rescuing: true, node.RescueWait: true, node.ServiceWait: true,
	}
	fastTrackStates = map[node.State]bool{
		node.Enroll: true, node.Manageable: true, node.Available: true, node.Servicing: true, node.ServiceHold: true,
	}
)

// Ramdisks answers agents and the boot service: boot words, look-ups, heartbeats, inspection data, and machines that
// are not enrolled.
type Ramdisks struct {
	*core.Core
	unknown  unknownMachines // calls of machines that are not enrolled
	machines machines        // index of the nodes that such a machine may be
	warnings warnings        // about calls of such machines
}

// New makes the answers for agents beside a core.
func New(c *core.Core) *Ramdisks {
	r := &Ramdisks{Core: c}
	c.Listen(&r.machines)
	c.SameSystem = r.nodesOfSystem
	return r
}

// unknownRamdisk is one answer for an unknown machine and for a machine that is not expected: a caller without proof
// learns nothing.
func unknownRamdisk() error {
	return node.Refuse(node.NotFound, "Node could not be found.")
}

// Lookup gives a ramdisk the node it runs on and the token of this boot, in clear once. c is the caller's proof.
func (e *Ramdisks) Lookup(ctx context.Context, macs []string, uuid string,
	c node.Caller) (agentapi.LookupNode, string, error) {
	n, err := e.nodeOf(ctx, macs, uuid, c.Word)
	if err != nil {
		return agentapi.LookupNode{}, "", err
	}
	if !lookupStates[n.ProvisionState] && !e.keptAt(n, c) {
		return agentapi.LookupNode{}, "", unknownRamdisk()
	}
	if err := e.checkLease(ctx, n, c.From); err != nil {
		e.warnOf(ctx, "lookup refused", n.UUID, "from", c.From, "err", err)
		return agentapi.LookupNode{}, "", unknownRamdisk()
	}
	token, err := e.answerLookup(ctx, n.UUID, c)
	if err != nil {
		return agentapi.LookupNode{}, "", err
	}
	return core.LookupView(n), token, nil
}

// keptAt reports whether a ramdisk that waits for the next run at a node at rest is answered. Where boots have no
// words, any program could take the token of a machine at rest, and the next run would work with it as its agent: there
// only the holder of the token is, unless the operator trusts all machines of its network (AnyAtRest).
func (e *Ramdisks) keptAt(n node.Node, c node.Caller) bool {
	proven := e.RamdiskAuth.Words && !n.Agent.Unproven || e.RamdiskAuth.AnyAtRest && !e.RamdiskAuth.Words ||
		n.Agent.Token != "" && core.SameToken(n.Agent.Token, c.Word)
	return plan.FastTrack(n, e.Settings) && fastTrackStates[n.ProvisionState] && proven
}

// Find finds the node of a ramdisk at from that is too old for tokens. It gives out
// nothing, so it asks for no word.
func (e *Ramdisks) Find(ctx context.Context, macs []string, uuid string, from netip.Addr) (node.Node, error) {
	n, err := e.nodeOf(ctx, macs, uuid, "")
	if err != nil {
		return node.Node{}, err
	}
	if class := n.ProvisionState.Class(); class != node.Working && class != node.Waiting {
		return node.Node{}, unknownRamdisk()
	}
	if err := e.checkLease(ctx, n, from); err != nil {
		e.warnOf(ctx, "lookup refused", n.UUID, "from", from, "err", err)
		return node.Node{}, unknownRamdisk()
	}
	return n, nil
}

// nodeOf finds a node by the addresses of its ports, or else by UUID. Several nodes may match, because BMCs show every
// machine a network card with the same address (metal3-io/metal3-docs#595). Then it prefers the node with the boot word
// of the caller, then the first node that expects an agent, then the first.
func (e *Ramdisks) nodeOf(ctx context.Context, macs []string, uuid, word string) (node.Node, error) {
	var found, expected []node.Node
	for _, mac := range macs {
		ports, err := e.portsAt(ctx, mac)
		if err != nil {
			return node.Node{}, err
		}
		if len(ports) == 0 || uuid != "" && ports[0].NodeUUID != uuid {
			continue
		}
		n, err := e.Node(ctx, ports[0].NodeUUID)
		if err != nil || n.Agent.IsWord(word) {
			return n, err
		}
		found = append(found, n)
		if class := n.ProvisionState.Class(); class == node.Working || class == node.Waiting {
			expected = append(expected, n)
		}
	}
	if all := append(expected, found...); len(all) > 0 {
		return all[0], nil
	}
	if uuid == "" {
		return node.Node{}, unknownRamdisk()
	}
	n, err := e.Store.Node(ctx, uuid)
	if errors.Is(err, node.ErrNotFound) || (err == nil && n.UUID != uuid) {
		return node.Node{}, unknownRamdisk()
	}
	return n, err
}

// checkLease compares the caller's address with the leases of the node's ports: a caller can claim any MAC. If other
// DHCP servers lend addresses too, the address proves nothing. A machine that boots from a medium may have an address
// of its own, unless its agent has no other proof.
func (e *Ramdisks) checkLease(ctx context.Context, n node.Node, from netip.Addr) error {
	if !e.RamdiskAuth.Leases || plan.BootsByMedium(n) && !plan.ByLeaseAlone(n) {
		return nil
	}
	leased, err := e.Leased(ctx, n.UUID)
	if err != nil {
		return err
	}
	if !slices.Contains(leased, from.Unmap().String()) {
		return fmt.Errorf("the addresses leased to the node's ports are %v, the caller is %s", leased, from)
	}
	return nil
}

// calledFrom reports whether the agent of this boot has called before, and is at this address.
func calledFrom(a node.Agent, from netip.Addr) bool {
	u, err := url.Parse(a.URL)
	if a.URL == "" || err != nil {
		return false
	}
	at := from.Unmap().String()
	return at == u.Hostname() || at == a.Caller
}

// answerLookup gives out this boot's token to one caller, and to that caller again until an agent has used it. A
// conductor may die between writing the token and answering; then a caller from elsewhere may get another. Of two
// lookups at a time one must come again: otherwise both would get a token, and the first token would be invalid.
func (e *Ramdisks) answerLookup(ctx context.Context, uuid string, c node.Caller) (token string, err error) {
	end, ok := e.Memory.Issue(uuid)
	if !ok {
		return "", e.Locked(uuid)
	}
	out := false
	defer func() { end(out) }()
	for range core.MaxTries {
		n, err := e.Node(ctx, uuid)
		if err != nil {
			return "", err
		}
		switch v, why := e.verdictOnLookup(n, c); v {
		case refuse:
			return "", e.turnAway(ctx, n, c, "lookup", why)
		case acquaint:
			e.Memory.Stage(uuid, core.BootStage{Name: "lookup", At: e.Now()}, false)
			return agentapi.MaskedToken, nil
		case issue:
		}
		if out = heldBy(n.Agent, c); out {
			e.Memory.Stage(uuid, core.BootStage{Name: "lookup again", At: e.Now()}, false)
			if !n.Agent.IsWord(c.Word) { // two programs at one address would both have it
				e.warnOf(ctx, "a token was given again, to the address that it was given to", uuid, "from", c.From)
			}
			return n.Agent.Token, nil
		}
		n = n.Clone()
		n.Agent.Token, n.Agent.TokenSent, n.Agent.Caller = newToken(), true, c.From.Unmap().String()
		if was := n.BootMode; plan.BootedBy(&n, c.BootMode) && was != "" {
			e.Log.Warn("the machine was not started as its BMC says; the agent is believed", "node", uuid, "bmc", was,
				"agent", c.BootMode)
		}
		_, err = e.commitHeld(ctx, n)
		if errors.Is(err, node.ErrStale) {
			continue
		}
		if out = err == nil; out {
			e.Memory.Stage(uuid, core.BootStage{Name: "lookup", At: e.Now()}, false)
		}
		return n.Agent.Token, err
	}
	return "", e.Locked(uuid)
}

// commitHeld saves a ramdisk's change of a node that an effect may hold: the effect stays pending.
func (e *Ramdisks) commitHeld(ctx context.Context, n node.Node) (node.Node, error) {
	return e.Commit(ctx, node.Change{Save: &n})
}

// newToken returns 43 characters that cannot be guessed; ironic-python-agent
// asks for at least 32.
func newToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails: it ends the program instead
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Heartbeat accepts an agent's call. It writes only a call that makes the node move, and remembers the others.
func (e *Ramdisks) Heartbeat(ctx context.Context, uuid string, hb agentapi.Heartbeat) error {
	known, act, err := e.Memory.Beat(uuid, hb, e.Now())
	if !known {
		n, err2 := e.Node(ctx, uuid)
		if err2 != nil {
			return err2
		}
		if err := e.Remember(ctx, n); err != nil {
			return err
		}
		uuid = n.UUID
		_, act, err = e.Memory.Beat(uuid, hb, e.Now())
	}
	if err != nil {
		e.warnOf(ctx, "heartbeat refused", uuid, "from", hb.CallbackURL, "err", err)
		return err
	}
	if !act {
		return nil
	}
	e.Memory.Stage(uuid, core.BootStage{Name: "heartbeat", At: e.Now()}, false)
	_, err = e.Act(ctx, uuid, plan.AgentCalled{Heartbeat: hb})
	return err
}

// ContinueInspection accepts the data of an inspecting ramdisk. It finds the node by MAC, else by BMC address, among
// the nodes that wait for data. c is the caller's proof, as for Lookup.
func (e *Ramdisks) ContinueInspection(ctx context.Context, uuid string, data agentapi.Inspection, raw []byte,
	c node.Caller) (node.Node, error) {
	if err := data.Validate(); err != nil {
		return node.Node{}, node.Refuse(node.Invalid, "%v", err)
	}
	n, err := e.nodeOf(ctx, data.Inventory.MACs(), uuid, c.Word)
	if err != nil {
		n, err = e.waitingByBMC(ctx, data.Inventory)
	}
	if err != nil {
		return n, err
	}
	if n.ProvisionState != node.InspectWait {
		return node.Node{}, unknownRamdisk()
	}
	if err := e.checkLease(ctx, n, c.From); err != nil {
		e.warnOf(ctx, "inspection data refused", n.UUID, "from", c.From, "err", err)
		return node.Node{}, unknownRamdisk()
	}
	if v, why := e.verdictOnData(n, c); v == refuse {
		return node.Node{}, e.turnAway(ctx, n, c, "inspection data", why)
	}
	e.Memory.Stage(n.UUID, core.BootStage{Name: "inspection data", At: e.Now()}, false)
	n, err = e.Act(ctx, n.UUID, plan.Inspected{Data: data, Raw: json.RawMessage(raw)})
	if err == nil {
		e.keepInspectionLogs(n, data, raw)
	}
	return n, err
}

func (e *Ramdisks) waitingByBMC(ctx context.Context, inv agentapi.Inventory) (node.Node, error) {
	state := node.InspectWait
	nodes, err := e.Store.Nodes(ctx, node.Query{ProvisionState: &state, WithChildren: true})
	if err = e.Readable(err); err != nil {
		return node.Node{}, err
	}
	for _, n := range nodes {
		if hasBMC(n, inv) {
			return n, nil
		}
	}
	return node.Node{}, unknownRamdisk()
}

// Progress takes how far the agent's step has come.
func (e *Ramdisks) Progress(ctx context.Context, uuid string, p agentapi.Progress) error {
	if err := e.CheckToken(ctx, uuid, p.AgentToken); err != nil {
		return err
	}
	e.Memory.Report(uuid, p, e.Now())
	return nil
}

// CheckToken refuses a token other than the token of this node's boot.
func (e *Ramdisks) CheckToken(ctx context.Context, uuid, token string) error {
	want, known := e.Memory.Token(uuid)
	if !known {
		n, err := e.Node(ctx, uuid)
		if err != nil {
			return err
		}
		want = n.Agent.Token
	}
	if want == "" || !core.SameToken(want, token) {
		return node.Refuse(node.Invalid, "Invalid or missing agent token received.")
	}
	return nil
}
