package core

import (
	"context"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Store keeps nodes and their records, and the records that operators keep beside them. Every write to a node is one
// Change, written as a whole or not at all. The errors are node.ErrNotFound, ErrConflict, ErrStale and ErrFenced,
// wrapped.
type Store interface {
	Commit(ctx context.Context, c node.Change) (node.Node, error)
	Node(ctx context.Context, ref string) (node.Node, error) // UUID or name
	// may share maps with other readers: Clone to change; with a *node.UnreadableError the nodes that can be decoded
	Nodes(ctx context.Context, q node.Query) ([]node.Node, error)
	NodeUUIDs(ctx context.Context, q node.Query) ([]string, error) // of the nodes that Nodes lists
	NodeSizes(ctx context.Context, q node.Query) ([]node.Sized, error)
	Shards(ctx context.Context) ([]node.Shard, error)
	Port(ctx context.Context, uuid string) (node.Port, error)
	NodeByAddress(ctx context.Context, address string) (node.Node, node.Port, error)
	Ports(ctx context.Context, q node.PortQuery) ([]node.Port, error)
	// the same, a few in memory at a time, until f returns false
	EachPort(ctx context.Context, q node.PortQuery, f func(*node.Port) bool) error
	EraseReports(ctx context.Context, q node.EraseReportQuery) ([]node.EraseReport, error)
	Inspected(ctx context.Context, nodeUUID string) (node.Inspected, error)
	HardwareReport(ctx context.Context, nodeUUID string) (node.HardwareReport, error)
	History(ctx context.Context, nodeUUID string) ([]node.HistoryEntry, error)

	PendingEffect(ctx context.Context, nodeUUID string) (*node.Effect, error) // nil when nothing is pending
	// the UUIDs of all nodes that have a pending effect
	NodesWithEffects(ctx context.Context) ([]string, error)
	// the effects that no conductor holds, with ID, Node, Name and RunAt
	Unclaimed(ctx context.Context, now time.Time) ([]node.Effect, error)
	Claim(ctx context.Context, owner string, now time.Time, lease time.Duration, nodes []string) ([]node.Effect, error)
	Renew(ctx context.Context, e node.Effect, until time.Time) error
	Note(ctx context.Context, e node.Effect) error // its accepted actions, and its Error
	Release(ctx context.Context, e node.Effect, runAt time.Time, why string) error
	Takeover(ctx context.Context, owner string, now time.Time) (int, error)
	Expired(ctx context.Context, now time.Time, limit int) ([]string, error)
	NextDeadline(ctx context.Context) (time.Time, bool, error)

	Catalogs() node.Catalogs

	Leases(ctx context.Context) ([]node.Lease, error)
	LeasesOf(ctx context.Context, macs []string, ip string) ([]node.Lease, error)
	SaveLease(ctx context.Context, leases ...node.Lease) error
	EndLease(ctx context.Context, l node.Lease) error
	Declines(ctx context.Context) ([]node.Decline, error)
	SaveDecline(ctx context.Context, d node.Decline, now time.Time) error
	DeleteLease(ctx context.Context, mac string) error

	Hold(ctx context.Context) (node.RestoreHold, error)
	SetHold(ctx context.Context, h node.RestoreHold) error // the zero value ends it
}

// BMC is one kind of board management controller. Every call ends by its
// context's deadline; an error with a method Permanent() bool that answers
// true is not worth a retry (wrong credentials, a setting that is missing).
type BMC interface {
	Validate(n node.Node) error
	PowerState(ctx context.Context, n node.Node) (node.PowerState, error)
	SetPower(ctx context.Context, n node.Node, target node.PowerState) error // returns once accepted
	BootDevice(ctx context.Context, n node.Node) (device string, persistent bool, err error)
	SetBootDevice(ctx context.Context, n node.Node, device string, persistent bool) error
	SupportedBootDevices(n node.Node) []string
	BootMode(ctx context.Context, n node.Node) (string, error)
	SetBootMode(ctx context.Context, n node.Node, mode string) error
	System(ctx context.Context, n node.Node) (node.System, error)
}

// AgentClient commands the agent of a ramdisk. An error that wraps
// syscall.ECONNREFUSED says that the machine answers, and no agent listens.
type AgentClient interface {
	Execute(ctx context.Context, n node.Node, cmd agentapi.Command, wait bool) (agentapi.Result, error)
	Commands(ctx context.Context, n node.Node) ([]agentapi.Result, error)
}

// BootLogs keeps the logs of machines, by node.
type BootLogs interface {
	// Tail is the last lines of the latest boot; none when nothing was logged.
	Tail(uuid string, lines int) []string
	// Has reports whether there is a log of a boot, by the name that
	// node.BootName gives it.
	Has(uuid, boot string) bool
	// Collect makes a boot's log from an archive that its agent collected, the base64 of a tar.gz. kept describes the
	// amount.
	Collect(uuid, boot, archive string) (kept string, err error)
	// Forget removes the logs of a node that is no more.
	Forget(uuid string) error
}

// ImageProbe looks at the image behind an http(s) URL before a machine is switched off
// for it. It ends within a few seconds.
type ImageProbe interface {
	Probe(ctx context.Context, rawURL string) node.ImageFound
}

// ConfigDrives encodes an operator's config drive for an agent: as the base64 of a gzipped ISO, or as a URL. The
// hostname and UUID of the node fill the fields that the operator left out.
type ConfigDrives interface {
	Encode(drive any, n node.Node) (string, error)
}

// Images finds an image that agents cannot fetch by themselves (see
// plan.FoundByConductor).
type Images interface {
	// Check refuses a source that cannot be right for a node, before anything is changed, and returns the known facts
	// of the image. It sends requests to other conductors and OpenStack only.
	Check(ctx context.Context, n node.Node, source string) (node.ImageFound, error)
	// Locate fills in the fields of info for a node's agent; the only URL of info is the source. The fields are the URL
	// to fetch from, the credentials and the checksum.
	Locate(ctx context.Context, n node.Node, info agentapi.ImageInfo) (agentapi.ImageInfo, error)
	// Through is Locate for an image that agents could fetch by themselves: from a cache, where there is one.
	Through(ctx context.Context, n node.Node, info agentapi.ImageInfo) (agentapi.ImageInfo, error)
	// CheckISO is Check for an ISO image; with begin the image begins to come, where the conductor needs it itself.
	CheckISO(ctx context.Context, n node.Node, source string, begin bool) error
	// CheckBootFile is CheckISO for a kernel or ramdisk.
	CheckBootFile(ctx context.Context, n node.Node, source string, begin bool) error
	// ISOURL is where firmware reads the ISO image that a node boots by its name. It refuses as Check does.
	ISOURL(ctx context.Context, n node.Node, source string) (string, error)
	// BootFile is the path of a kernel or ramdisk that a node boots by its name. It refuses as Check does.
	BootFile(ctx context.Context, n node.Node, source string) (string, error)
}

// Networks puts the ports of machines into networks (network interface neutron). Every call may be repeated. Attach and
// Plug get all ports and portgroups of the node.
type Networks interface {
	// Attach puts the ports into one network and out of all others: one of plan.RamdiskNetworks, plan.TenantNetwork or
	// plan.NoNetwork.
	Attach(ctx context.Context, n node.Node, network string, ports []node.Port, groups []node.Portgroup) (
		plan.Attached, error)
	// Plug connects a VIF that was just attached to the node. If it fails, it leaves no VIF connected. Unplug
	// disconnects a VIF that is detached.
	Plug(ctx context.Context, n node.Node, vif string, ports []node.Port, groups []node.Portgroup) error
	Unplug(ctx context.Context, vif string) error
	// Readdress gives a VIF that is attached to a node the MAC address of its port. A bound VIF stays bound.
	Readdress(ctx context.Context, n node.Node, vif string, ports []node.Port, groups []node.Portgroup) error
	// Leave takes the ports of ramdisks out of all networks, and leaves VIFs as they are.
	Leave(ctx context.Context, n node.Node, ports []node.Port, groups []node.Portgroup) error
	// VIF is the project that has a VIF, and the physical networks that it can be in; none: any.
	VIF(ctx context.Context, vif string) (project string, physical []string, err error)
}
