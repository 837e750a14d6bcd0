// Package store keeps all records of a conductor in SQL: nodes with their ports, effects, history and reports of
// hardware; operators' catalogs, with images; events, audit, DHCP leases, documents of hosts; members of a cluster, and
// their terms. It is for SQLite and PostgreSQL. Package mem is a store in memory, and storetest is the suite that both
// pass.
//
// It must not decide anything: it reads no clock, knows no state machine, and depends only on the records it keeps
// (packages node and objects). All changes of one decision arrive as one node.Change, and are written entirely or not
// at all.
package store

import (
	"context"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
)

// Store is the interface of every store in this tree. Errors match node.ErrNotFound, node.ErrConflict, node.ErrStale or
// node.ErrFenced where they apply; the first two are also *node.Refusal, in words meant for the client.
//
// Times are kept to the microsecond, in UTC. Every method is safe for concurrent use, and a write that returned nil
// survives a loss of power.
type Store interface {
	// Commit writes a change and returns the node as saved, with its new
	// revision; the zero Node when the change saves none. Parts are applied in
	// the order Finish, Insert/Save/Delete, DropAllocation, PutAllocation,
	// SavePortgroups, DropPorts, SavePorts, AddPorts, DropPortgroups, Volumes, Inspected, HardwareReport,
	// PutEraseReport, Hurry, Effects, History, Events. ID, Owner, Attempt and LeaseUntil of new effects are the
	// store's and are ignored; Finish needs only ID, Owner and Attempt.
	Commit(ctx context.Context, c node.Change) (node.Node, error)

	// Node finds a node by UUID or name.
	Node(ctx context.Context, ref string) (node.Node, error)
	// Nodes lists nodes. Children are left out unless the query names their parent or
	// themselves, or asks for children. Their contents (maps, the run) may be shared with
	// other readers: change a Clone instead.
	Nodes(ctx context.Context, q node.Query) ([]node.Node, error)
	// NodeUUIDs lists the UUIDs of nodes as Nodes lists the nodes. It reads no document.
	NodeUUIDs(ctx context.Context, q node.Query) ([]string, error)
	// NodeSizes is NodeUUIDs with the bytes that each node has in the database.
	NodeSizes(ctx context.Context, q node.Query) ([]node.Sized, error)
	// Shards counts nodes, children too, by shard; those in none come first.
	Shards(ctx context.Context) ([]node.Shard, error)
	// Port finds a port by UUID or name.
	Port(ctx context.Context, uuid string) (node.Port, error)
	// Ports lists ports in the order of creation.
	Ports(ctx context.Context, q node.PortQuery) ([]node.Port, error)
	// NodeByAddress returns the first port with an address, and its node; node.ErrNotFound where there is none.
	NodeByAddress(ctx context.Context, address string) (node.Node, node.Port, error)
	// EachPort calls f for the ports that a query without a limit lists, a few in memory at a
	// time, until f returns false.
	EachPort(ctx context.Context, q node.PortQuery, f func(*node.Port) bool) error
	// EraseReports lists erase reports in the order of creation.
	EraseReports(ctx context.Context, q node.EraseReportQuery) ([]node.EraseReport, error)

	// PendingEffect returns the pending effect of a node, nil when there is none.
	PendingEffect(ctx context.Context, nodeUUID string) (*node.Effect, error)
	// NodesWithEffects returns the UUIDs of all nodes that have a pending effect, in any order.
	NodesWithEffects(ctx context.Context) ([]string, error)
	// Unclaimed lists the effects that no living owner holds a lease of at now, the longest due first,
	// due or not. Of each only ID, Node, Name and RunAt are read.
	Unclaimed(ctx context.Context, now time.Time) ([]node.Effect, error)
	// Claim leases the effects of these nodes, as far as they are due and not leased by a
	// living owner, the longest due first.
	Claim(ctx context.Context, owner string, now time.Time, lease time.Duration, nodes []string) ([]node.Effect, error)
	// Renew prolongs a lease; node.ErrFenced when it is no longer e's.
	Renew(ctx context.Context, e node.Effect, until time.Time) error
	// Note keeps the accepted actions of an effect, and e.Error; node.ErrFenced when it is no longer e's.
	Note(ctx context.Context, e node.Effect) error
	// Release gives an effect back, not to be claimed before runAt, noting why;
	// node.ErrFenced when it is no longer e's.
	Release(ctx context.Context, e node.Effect, runAt time.Time, why string) error
	// Takeover voids every lease of owner and says how many there were. Effects that are due more than FurthestDue after
	// now are due now: the clock was set back meanwhile.
	Takeover(ctx context.Context, owner string, now time.Time) (int, error)

	// Expired returns the UUIDs of at most limit nodes with a deadline at or before now, the oldest first.
	Expired(ctx context.Context, now time.Time, limit int) ([]string, error)
	// NextDeadline is the earliest deadline of all; false when there is none.
	NextDeadline(ctx context.Context) (time.Time, bool, error)

	// Inspected returns the results of a node's last inspection.
	Inspected(ctx context.Context, nodeUUID string) (node.Inspected, error)
	// HardwareReport returns the last report of a node's BMC, empty when it was never asked.
	HardwareReport(ctx context.Context, nodeUUID string) (node.HardwareReport, error)
	// History returns the newest HistoryKept entries of a node, oldest first.
	History(ctx context.Context, nodeUUID string) ([]node.HistoryEntry, error)

	// PutEvents writes events without a change of a node.
	PutEvents(ctx context.Context, events []node.ChangeEvent) error
	// Events lists at most limit events after a position, in the order of their commits. A reader that continues after
	// the last event it has seen sees each event once.
	Events(ctx context.Context, after int64, limit int) ([]node.ChangeEvent, error)
	// EventLog says how far the events reach.
	EventLog(ctx context.Context) (node.EventLog, error)
	// SequenceEvents gives committed events their positions, where they have none yet, and reports whether
	// there may be more.
	SequenceEvents(ctx context.Context) (more bool, err error)
	// PruneEvents deletes the oldest events that need not be kept, at most some hundred, and reports how many.
	PruneEvents(ctx context.Context, keep node.EventRetention) (int, error)

	// EventReader is the place of a reader of events; false for a new one.
	EventReader(ctx context.Context, name string) (position int64, known bool, err error)
	// SaveEventReader keeps the place of a reader of events.
	SaveEventReader(ctx context.Context, name string, position int64) error
	// KeepEventReaders forgets all readers of events but these.
	KeepEventReaders(ctx context.Context, names []string) error

	// AppendAudit adds entries of one conductor to the audit, one or more, all or none; node.ErrConflict on a number that
	// a chain has already.
	AppendAudit(ctx context.Context, entries []node.AuditEntry) error
	// Audit lists at most limit entries after an id, in the order in which they were written; of a node, if named.
	Audit(ctx context.Context, nodeUUID string, after int64, limit int) ([]node.AuditEntry, error)
	// LastAudit is the newest entry that a conductor has written; false for none.
	LastAudit(ctx context.Context, writer string) (node.AuditEntry, bool, error)
	// AuditSize is how many entries the audit has, and how many bytes these are.
	AuditSize(ctx context.Context) (entries, bytes int64, err error)
	// AuditLives lists the lives of all processes that wrote entries.
	AuditLives(ctx context.Context) ([]node.AuditLife, error)
	// AuditCuts lists the cuts of the audit that were made. It also lists, with Done false, the cuts that would come
	// with the deletion of entries older than before. The newest older entry of each conductor stays.
	AuditCuts(ctx context.Context, before time.Time) ([]node.AuditCut, error)
	// CutAudit allows entries up to the cuts to be deleted. The entry with this chain and number names their hashes.
	CutAudit(ctx context.Context, chain string, number int64, cuts []node.AuditCut) error
	// PruneAudit deletes some entries up to the cuts, and reports how many: 0 when there are no more.
	PruneAudit(ctx context.Context) (int, error)

	// Catalogs are the records that operators keep beside nodes.
	Catalogs() node.Catalogs

	// Leases returns all DHCP leases, in the order of their MACs.
	Leases(ctx context.Context) ([]node.Lease, error)
	// LeasesOf lists the leases of MACs in lower case and the leases of an address, in the order of their MACs; "" is
	// no address.
	LeasesOf(ctx context.Context, macs []string, ip string) ([]node.Lease, error)
	// SaveLease inserts or replaces the leases of MACs, all or none. It returns node.ErrConflict when another MAC has
	// an address. It also does when a lease is lent and its MAC has a reservation: the reservation was made while the
	// loan was under way, and wins.
	SaveLease(ctx context.Context, leases ...node.Lease) error
	// EndLease removes l if it is on record still: lent, and not renewed since
	// it was read. Otherwise it changes nothing.
	EndLease(ctx context.Context, l node.Lease) error
	// Declines returns the addresses that machines found in use by others, in their order.
	Declines(ctx context.Context) ([]node.Decline, error)
	// SaveDecline keeps a declined address from being leased until d.Until. It ends the lease of the machine that
	// declined it, and deletes expired declines.
	SaveDecline(ctx context.Context, d node.Decline, now time.Time) error
	// DeleteLease removes the lease of a MAC; node.ErrNotFound when it has none.
	DeleteLease(ctx context.Context, mac string) error

	// Hold returns the hold of a restored database, the zero value for none.
	Hold(ctx context.Context) (node.RestoreHold, error)
	// SetHold begins a hold, or ends it with the zero value.
	SetHold(ctx context.Context, h node.RestoreHold) error

	// Documents of hosts.
	objects.Store

	Close() error
}

// HistoryKept is how many entries of history a node keeps; older ones go when
// new ones come. It is Ironic's default.
const HistoryKept = 300
