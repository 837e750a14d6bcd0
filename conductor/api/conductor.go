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

// Conductor is what the API needs of the engine. A ref is a UUID or a name;
// what a client caused comes back as a *node.Refusal.
type Conductor interface {
	Nodes
	Verbs
	Ports
	VIFs
	Traits
	Records
	Hardware
	Leases
	// Catalogs is what operators keep beside nodes.
	Catalogs() engine.Catalogs
	// ConductorName is the name of this conductor.
	ConductorName() string
	// HardwareTypes are those that are enabled.
	HardwareTypes() []node.HardwareType
}

// Nodes keeps node records.
type Nodes interface {
	CreateNode(ctx context.Context, n node.Node) (node.Node, error)
	Node(ctx context.Context, ref string) (node.Node, error)
	Nodes(ctx context.Context, q node.Query) ([]node.Node, error)
	UpdateNode(ctx context.Context, ref string, edit func(*node.Node) error) (node.Node, error)
	DeleteNode(ctx context.Context, ref string) error
	// Shards counts the nodes of each shard.
	Shards(ctx context.Context) ([]node.Shard, error)
	// Reserved is the host that works on the node, "" when none does.
	Reserved(ctx context.Context, uuid string) (string, error)
}

// Verbs makes nodes do things.
type Verbs interface {
	Provision(ctx context.Context, ref string, r plan.Request) error
	SetPower(ctx context.Context, ref string, target node.PowerState, timeout time.Duration) error
	SetMaintenance(ctx context.Context, ref string, on bool, reason string) error
	BootDevice(ctx context.Context, ref string) (device string, persistent bool, err error)
	SetBootDevice(ctx context.Context, ref, device string, persistent bool) error
	SupportedBootDevices(ctx context.Context, ref string) ([]string, error)
	InjectNMI(ctx context.Context, ref string) error
	// ChangeBootMode, ChangeSecureBoot and SetConsole are taken, and done later.
	ChangeBootMode(ctx context.Context, ref, mode string) error
	ChangeSecureBoot(ctx context.Context, ref string, on bool) error
	SetConsole(ctx context.Context, ref string, on bool) error
	Console(ctx context.Context, ref string) (on bool, info map[string]any, err error)
	Indicators(ctx context.Context, ref string) ([]node.Indicator, error)
	IndicatorState(ctx context.Context, ref, component, name string) (string, error)
	SetIndicatorState(ctx context.Context, ref, component, name, state string) error
	VendorMethods(ctx context.Context, ref string) ([]node.VendorMethod, error)
	// CallVendor has no result when the method is async.
	CallVendor(ctx context.Context, ref, httpMethod, method string, args map[string]any) (result any, async bool, err error)
	// Validate says by interface kind what is missing; nil is valid.
	Validate(ctx context.Context, ref string) (map[string]error, error)
}

// Ports keeps port records.
type Ports interface {
	CreatePort(ctx context.Context, p node.Port) (node.Port, error)
	Port(ctx context.Context, ref string) (node.Port, error)
	Ports(ctx context.Context, q node.PortQuery) ([]node.Port, error)
	UpdatePort(ctx context.Context, ref string, edit func(*node.Port) error) (node.Port, error)
	DeletePort(ctx context.Context, ref string) error
}

// VIFs attaches virtual interfaces to nodes.
type VIFs interface {
	VIFs(ctx context.Context, ref string) ([]string, error)
	AttachVIF(ctx context.Context, ref string, v node.VIF) error
	DetachVIF(ctx context.Context, ref, id string) error
}

// Traits keeps the traits of nodes; those given to it are valid.
type Traits interface {
	SetTraits(ctx context.Context, ref string, traits []string) error
	AddTrait(ctx context.Context, ref, trait string) error
	RemoveTrait(ctx context.Context, ref, trait string) error
}

// Records is what has been found out about a node.
type Records interface {
	Inspected(ctx context.Context, ref string) (node.Inspected, error)
	History(ctx context.Context, ref string) ([]node.HistoryEntry, error)
	Status(ctx context.Context, ref string) (engine.Status, error)
	// RootDevice goes by the node's own hints when these are nil.
	RootDevice(ctx context.Context, ref string, hints map[string]any) (engine.RootDevice, error)
	// EraseReports are the oldest first; also those of a node that is no more, by
	// its UUID.
	EraseReports(ctx context.Context, ref string) ([]node.EraseReport, error)
	EraseReport(ctx context.Context, uuid string) (node.EraseReport, error)
	ErasePublicKey() ed25519.PublicKey
}

// Hardware is what a node's BMC has told, and what is wanted of it.
type Hardware interface {
	HardwareReport(ctx context.Context, ref string) (node.HardwareReport, error)
	SetTargetRAIDConfig(ctx context.Context, ref string, config map[string]any) error
	MediaSlots(ctx context.Context, ref string) ([]node.MediaSlot, error)
	// AttachMedium and DetachMedia return once that is under way.
	AttachMedium(ctx context.Context, ref string, m node.Medium) error
	DetachMedia(ctx context.Context, ref string, devices []string) error
}

// Leases keeps the addresses of machines. An address never stands twice.
type Leases interface {
	Leases(ctx context.Context) ([]node.Lease, error)
	SaveLease(ctx context.Context, l node.Lease) error
	EndLease(ctx context.Context, l node.Lease) error
	DeleteLease(ctx context.Context, mac string) error
}

// Boot is what the API needs of the boot service, which honours reservations.
type Boot interface {
	// Reservable says why a reservation of ip could never be honoured.
	Reservable(ip netip.Addr) error
	// Reload takes over the leases on record.
	Reload(ctx context.Context) error
}

// Logs has what machines logged. Stream gives it to emit in pieces, and ends
// with ctx or with the first error of that.
type Logs interface {
	Stream(ctx context.Context, node string, q nodeapi.LogQuery, emit func([]byte) error) error
}
