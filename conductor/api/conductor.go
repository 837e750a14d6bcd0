package api

import (
	"context"
	"crypto/ed25519"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Conductor does the work behind the resources; *engine.Engine is one. Its parts have this in common, where they say
// nothing else:
//
//   - a ref is a UUID or a name, and a uuid is a UUID alone;
//   - methods may be called concurrently, and in any order;
//   - a change that meets another one of its record is decided again on the result, up to core.MaxTries times; one of a
//     node is then refused as Locked. Calls to machines are tried again only where a method says so;
//   - an error that is the client's is a *node.Refusal, of Kind node.NotFound for a missing record. Kind node.Locked
//     means that an effect holds the node, or that other changes were faster: the same request may succeed later.
//     Other errors are the server's.
type Conductor interface {
	// ConductorName is the name of this conductor.
	ConductorName() string
	// HardwareTypes are the enabled hardware types.
	HardwareTypes() []node.HardwareType
	// Catalogs are the records that operators keep beside nodes.
	Catalogs() engine.Catalogs

	Nodes
	Ports
	States
	Machines
	Reports
	Leases
	Holds
}

// Nodes keeps the records of nodes. Records may share maps with other readers: Clone to change. An edit may
// therefore run more than once. While an effect holds the node, edits are refused as Locked, but for SetMaintenance.
type Nodes interface {
	CreateNode(ctx context.Context, n node.Node) (node.Node, error)
	Node(ctx context.Context, ref string) (node.Node, error)
	NodeUUIDs(ctx context.Context, q node.Query) ([]string, error)
	// WalkNodes calls f for the nodes that match, in order, a few in memory at a time, until f returns false.
	WalkNodes(ctx context.Context, q node.Query, f func(*node.Node) bool) error
	// NodesAt are the nodes with a BMC at a host, a name or an address.
	NodesAt(ctx context.Context, host string) ([]node.Node, error)
	// Shards counts the nodes of each shard.
	Shards(ctx context.Context) ([]node.Shard, error)
	UpdateNode(ctx context.Context, ref string, edit func(*node.Node) error) (node.Node, error)
	DeleteNode(ctx context.Context, ref string) error
	SetTraits(ctx context.Context, ref string, traits []string) error
	AddTrait(ctx context.Context, ref, trait string) error
	RemoveTrait(ctx context.Context, ref, trait string) error
	SetMaintenance(ctx context.Context, ref string, on bool, reason string) error
	// SetTargetRAIDConfig stores the configuration that the next RAID step makes; an empty one is none.
	SetTargetRAIDConfig(ctx context.Context, ref string, config map[string]any) error
}

// Ports keeps the records of ports, and the virtual interfaces attached to them. A change of a port is one of its node:
// it is refused as Locked while an effect holds the node.
type Ports interface {
	Port(ctx context.Context, ref string) (node.Port, error)
	// EachPort calls f for the ports that match, in order, a few in memory at a time, until f returns false.
	EachPort(ctx context.Context, q node.PortQuery, f func(*node.Port) bool) error
	CreatePort(ctx context.Context, p node.Port) (node.Port, error)
	UpdatePort(ctx context.Context, ref string, edit func(*node.Port) error) (node.Port, error)
	DeletePort(ctx context.Context, ref string) error
	VIFs(ctx context.Context, ref string) ([]string, error)
	AttachVIF(ctx context.Context, ref string, v node.VIF) error
	DetachVIF(ctx context.Context, ref, id string) error
}

// States changes machines by events of their nodes. A change returns once it is accepted, which a crash does not undo;
// the work continues by itself, and a failure of it shows in the node. Of two requests at a time for one node, the
// second is refused as Locked, but for an abort.
type States interface {
	Provision(ctx context.Context, ref string, r plan.Request) error
	// SetPower waits timeout for the machine, 0 for the default.
	SetPower(ctx context.Context, ref string, target node.PowerState, timeout time.Duration) error
	// ConfirmPower accepts a person's statement that a machine is on or off, which its conductor has asked for. It is
	// refused where another state or none is awaited, and where the node's BMC reports the power.
	ConfirmPower(ctx context.Context, ref string, state node.PowerState) error
}

// Machines asks the BMC of a node. Readings may run beside an effect. They and SetBootDevice, InjectNMI and
// SetIndicatorState last until the BMC has answered, within the node's time limit for a call. ChangeBootMode,
// ChangeSecureBoot, SetConsole, AttachMedium, DetachMedia and asynchronous methods of vendors return once they are
// accepted, as the changes of States do. A BMC that fails is a *node.Refusal of Kind node.BMCFailed or node.BMCSilent.
type Machines interface {
	// TestBMC is for a node that is not enrolled yet.
	TestBMC(ctx context.Context, n node.Node) (node.PowerState, error)
	BootDevice(ctx context.Context, ref string) (device string, persistent bool, err error)
	SetBootDevice(ctx context.Context, ref, device string, persistent bool) error
	SupportedBootDevices(ctx context.Context, ref string) ([]string, error)
	ChangeBootMode(ctx context.Context, ref, mode string) error
	ChangeSecureBoot(ctx context.Context, ref string, on bool) error
	InjectNMI(ctx context.Context, ref string) error
	// Validate returns the faults by interface kind; nil is valid.
	Validate(ctx context.Context, ref string) (map[string]error, error)
	SetConsole(ctx context.Context, ref string, on bool) error
	Console(ctx context.Context, ref string) (on bool, info map[string]any, err error)
	Indicators(ctx context.Context, ref string) ([]node.Indicator, error)
	IndicatorState(ctx context.Context, ref, component, name string) (string, error)
	SetIndicatorState(ctx context.Context, ref, component, name, state string) error
	MediaSlots(ctx context.Context, ref string) ([]node.MediaSlot, error)
	AttachMedium(ctx context.Context, ref string, m node.Medium) error
	DetachMedia(ctx context.Context, ref string, devices []string) error
	VendorMethods(ctx context.Context, ref string) ([]node.VendorMethod, error)
	// CallVendor has no result when the method is async.
	CallVendor(ctx context.Context, ref, httpMethod, method string,
		args map[string]any) (result any, async bool, err error)
}

// Reports reads the conductor's records of machines and of its work on them. They ask no machine. SensorReport and
// ErasePublicKey read memory.
type Reports interface {
	Status(ctx context.Context, ref string) (engine.Status, error)
	// Steps are the steps that are known without booting the machine.
	Steps(ctx context.Context, ref string) (plan.StepTable, error)
	// RootDevice is by the node's own hints when these are nil.
	RootDevice(ctx context.Context, ref string, hints map[string]any) (engine.RootDevice, error)
	// Reserved is the conductor that works on the node, "" when none does.
	Reserved(ctx context.Context, uuid string) (string, error)
	HardwareReport(ctx context.Context, ref string) (node.HardwareReport, error)
	SensorReport(uuid string) (node.SensorReport, bool)
	Inspected(ctx context.Context, ref string) (node.Inspected, error)
	History(ctx context.Context, ref string) ([]node.HistoryEntry, error)
	ListEraseReports(ctx context.Context, q node.EraseReportQuery) ([]node.EraseReport, error)
	EraseReport(ctx context.Context, uuid string) (node.EraseReport, error)
	ErasePublicKey() ed25519.PublicKey
}

// Leases keeps the leases of the boot network. The boot service has them in memory: call Boot.Reload after a change.
type Leases interface {
	Leases(ctx context.Context) ([]node.Lease, error)
	SaveLease(ctx context.Context, leases ...node.Lease) error
	EndLease(ctx context.Context, l node.Lease) error
	DeleteLease(ctx context.Context, mac string) error
}

// Holds is the hold after a restore, under which no effect is carried out. Abandon comes before Resume, which ends the
// hold for all nodes; a second Resume changes nothing.
type Holds interface {
	Hold() node.RestoreHold
	HoldReport(ctx context.Context) (all []engine.HeldNode, unread int, err error)
	Abandon(ctx context.Context, ref, reason string) error
	Resume(ctx context.Context) error
}

// Boot is the part of the boot service that the API needs. The service honours reservations.
type Boot interface {
	// Reservable finds the subnet in which ip is to be reserved, by its name or by the address. The error is the reason
	// why a reservation of ip could never be honoured.
	Reservable(subnet string, ip netip.Addr) (name string, err error)
	// Reload takes over the leases on record.
	Reload(ctx context.Context) error
}

// BootWatch shows the requests on the boot network.
type BootWatch interface {
	// Stream gives it to emit in batches, and ends with ctx or with the first error of that.
	Stream(ctx context.Context, q nodeapi.BootQuery, emit func([]nodeapi.BootLine) error) error
	// Servers lists the other DHCP servers on the boot network.
	Servers() []nodeapi.BootServer
}

// Logs has the logs of machines. Stream calls emit with pieces, and ends with ctx or with the first error of emit.
type Logs interface {
	Stream(ctx context.Context, node string, q nodeapi.LogQuery, emit func([]byte) error) error
}
