package broken

import (
	"context"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Node finds a node, or fails.
func (s *Store) Node(ctx context.Context, ref string) (node.Node, error) {
	return answer(s, "Node", func() (node.Node, error) { return s.inner.Node(ctx, ref) })
}

// Nodes lists nodes, or fails.
func (s *Store) Nodes(ctx context.Context, q node.Query) ([]node.Node, error) {
	return answer(s, "Nodes", func() ([]node.Node, error) { return s.inner.Nodes(ctx, q) })
}

// NodeUUIDs lists the UUIDs of nodes, or fails.
func (s *Store) NodeUUIDs(ctx context.Context, q node.Query) ([]string, error) {
	return answer(s, "NodeUUIDs", func() ([]string, error) { return s.inner.NodeUUIDs(ctx, q) })
}

// NodeSizes lists nodes by their UUIDs, or fails.
func (s *Store) NodeSizes(ctx context.Context, q node.Query) ([]node.Sized, error) {
	return answer(s, "NodeSizes", func() ([]node.Sized, error) { return s.inner.NodeSizes(ctx, q) })
}

// Shards counts nodes, or fails.
func (s *Store) Shards(ctx context.Context) ([]node.Shard, error) {
	return answer(s, "Shards", func() ([]node.Shard, error) { return s.inner.Shards(ctx) })
}

// Port finds a port, or fails.
func (s *Store) Port(ctx context.Context, uuid string) (node.Port, error) {
	return answer(s, "Port", func() (node.Port, error) { return s.inner.Port(ctx, uuid) })
}

// Ports lists ports, or fails.
func (s *Store) Ports(ctx context.Context, q node.PortQuery) ([]node.Port, error) {
	return answer(s, "Ports", func() ([]node.Port, error) { return s.inner.Ports(ctx, q) })
}

// NodeByAddress finds the node of a port, or fails.
func (s *Store) NodeByAddress(ctx context.Context, address string) (n node.Node, p node.Port, err error) {
	p, err = answer(s, "NodeByAddress", func() (p node.Port, err error) {
		n, p, err = s.inner.NodeByAddress(ctx, address)
		return p, err
	})
	return n, p, err
}

// EachPort lists ports, or fails.
func (s *Store) EachPort(ctx context.Context, q node.PortQuery, f func(*node.Port) bool) error {
	return nothing(s, "Ports", func() error { return s.inner.EachPort(ctx, q, f) })
}

// EraseReports lists erase reports, or fails.
func (s *Store) EraseReports(ctx context.Context, q node.EraseReportQuery) ([]node.EraseReport, error) {
	return answer(s, "EraseReports", func() ([]node.EraseReport, error) { return s.inner.EraseReports(ctx, q) })
}

// PendingEffect reads the pending effect of a node, or fails.
func (s *Store) PendingEffect(ctx context.Context, nodeUUID string) (*node.Effect, error) {
	return answer(s, "PendingEffect", func() (*node.Effect, error) { return s.inner.PendingEffect(ctx, nodeUUID) })
}

// NodesWithEffects lists the nodes that have a pending effect, or fails.
func (s *Store) NodesWithEffects(ctx context.Context) ([]string, error) {
	return answer(s, "NodesWithEffects", func() ([]string, error) { return s.inner.NodesWithEffects(ctx) })
}

// Unclaimed lists effects, or fails.
func (s *Store) Unclaimed(ctx context.Context, now time.Time) ([]node.Effect, error) {
	return answer(s, "Unclaimed", func() ([]node.Effect, error) { return s.inner.Unclaimed(ctx, now) })
}

// Claim leases effects, or fails.
func (s *Store) Claim(
	ctx context.Context, owner string, now time.Time, lease time.Duration, nodes []string,
) ([]node.Effect, error) {
	return answer(s, "Claim", func() ([]node.Effect, error) { return s.inner.Claim(ctx, owner, now, lease, nodes) })
}

// Takeover voids leases, or fails.
func (s *Store) Takeover(ctx context.Context, owner string, now time.Time) (int, error) {
	return answer(s, "Takeover", func() (int, error) { return s.inner.Takeover(ctx, owner, now) })
}

// Expired lists nodes past their deadline, or fails.
func (s *Store) Expired(ctx context.Context, now time.Time, limit int) ([]string, error) {
	return answer(s, "Expired", func() ([]string, error) { return s.inner.Expired(ctx, now, limit) })
}

// Inspected reads an inspection, or fails.
func (s *Store) Inspected(ctx context.Context, nodeUUID string) (node.Inspected, error) {
	return answer(s, "Inspected", func() (node.Inspected, error) { return s.inner.Inspected(ctx, nodeUUID) })
}

// HardwareReport reads a BMC's last report, or fails.
func (s *Store) HardwareReport(ctx context.Context, nodeUUID string) (node.HardwareReport, error) {
	return answer(s, "HardwareReport",
		func() (node.HardwareReport, error) { return s.inner.HardwareReport(ctx, nodeUUID) })
}

// History reads a node's history, or fails.
func (s *Store) History(ctx context.Context, nodeUUID string) ([]node.HistoryEntry, error) {
	return answer(s, "History", func() ([]node.HistoryEntry, error) { return s.inner.History(ctx, nodeUUID) })
}

// Leases lists DHCP leases, or fails.
func (s *Store) Leases(ctx context.Context) ([]node.Lease, error) {
	return answer(s, "Leases", func() ([]node.Lease, error) { return s.inner.Leases(ctx) })
}

// LeasesOf lists some DHCP leases, or fails.
func (s *Store) LeasesOf(ctx context.Context, macs []string, ip string) ([]node.Lease, error) {
	return answer(s, "LeasesOf", func() ([]node.Lease, error) { return s.inner.LeasesOf(ctx, macs, ip) })
}

// Renew prolongs a lease, or fails.
func (s *Store) Renew(ctx context.Context, e node.Effect, until time.Time) error {
	return nothing(s, "Renew", func() error { return s.inner.Renew(ctx, e, until) })
}

// Note keeps the accepted actions of an effect, or fails.
func (s *Store) Note(ctx context.Context, e node.Effect) error {
	return nothing(s, "Note", func() error { return s.inner.Note(ctx, e) })
}

// Release gives an effect back, or fails.
func (s *Store) Release(ctx context.Context, e node.Effect, runAt time.Time, why string) error {
	return nothing(s, "Release", func() error { return s.inner.Release(ctx, e, runAt, why) })
}

// Declines lists declined addresses, or fails.
func (s *Store) Declines(ctx context.Context) ([]node.Decline, error) {
	return answer(s, "Declines", func() ([]node.Decline, error) { return s.inner.Declines(ctx) })
}

// SaveDecline sets an address aside, or fails.
func (s *Store) SaveDecline(ctx context.Context, d node.Decline, now time.Time) error {
	return nothing(s, "SaveDecline", func() error { return s.inner.SaveDecline(ctx, d, now) })
}

// SaveLease saves DHCP leases, or fails.
func (s *Store) SaveLease(ctx context.Context, leases ...node.Lease) error {
	return nothing(s, "SaveLease", func() error { return s.inner.SaveLease(ctx, leases...) })
}

// EndLease ends a DHCP lease, or fails.
func (s *Store) EndLease(ctx context.Context, l node.Lease) error {
	return nothing(s, "EndLease", func() error { return s.inner.EndLease(ctx, l) })
}

// DeleteLease removes a DHCP lease, or fails.
func (s *Store) DeleteLease(ctx context.Context, mac string) error {
	return nothing(s, "DeleteLease", func() error { return s.inner.DeleteLease(ctx, mac) })
}

// NextDeadline reads the earliest deadline, or fails.
func (s *Store) NextDeadline(ctx context.Context) (time.Time, bool, error) {
	return perhaps(s, "NextDeadline", func() (time.Time, bool, error) { return s.inner.NextDeadline(ctx) })
}

// Tell writes events, or fails.
func (s *Store) Tell(ctx context.Context, events []node.ChangeEvent) error {
	return nothing(s, "Tell", func() error { return s.inner.Tell(ctx, events) })
}

// Events lists events, or fails.
func (s *Store) Events(ctx context.Context, after int64, limit int) ([]node.ChangeEvent, error) {
	return answer(s, "Events", func() ([]node.ChangeEvent, error) { return s.inner.Events(ctx, after, limit) })
}

// EventLog says how far the events reach, or fails.
func (s *Store) EventLog(ctx context.Context) (node.EventLog, error) {
	return answer(s, "EventLog", func() (node.EventLog, error) { return s.inner.EventLog(ctx) })
}

// SequenceEvents gives events their positions, or fails.
func (s *Store) SequenceEvents(ctx context.Context) (bool, error) {
	return answer(s, "SequenceEvents", func() (bool, error) { return s.inner.SequenceEvents(ctx) })
}

// PruneEvents deletes old events, or fails.
func (s *Store) PruneEvents(ctx context.Context, keep node.EventRetention) (int, error) {
	return answer(s, "PruneEvents", func() (int, error) { return s.inner.PruneEvents(ctx, keep) })
}

// EventReader is the place of a reader, or fails.
func (s *Store) EventReader(ctx context.Context, name string) (int64, bool, error) {
	return perhaps(s, "EventReader", func() (int64, bool, error) { return s.inner.EventReader(ctx, name) })
}

// SaveEventReader keeps the place of a reader, or fails.
func (s *Store) SaveEventReader(ctx context.Context, name string, position int64) error {
	return nothing(s, "SaveEventReader", func() error { return s.inner.SaveEventReader(ctx, name, position) })
}

// KeepEventReaders forgets other readers, or fails.
func (s *Store) KeepEventReaders(ctx context.Context, names []string) error {
	return nothing(s, "KeepEventReaders", func() error { return s.inner.KeepEventReaders(ctx, names) })
}

// AppendAudit adds to the audit, or fails.
func (s *Store) AppendAudit(ctx context.Context, entries []node.AuditEntry) error {
	return nothing(s, "AppendAudit", func() error { return s.inner.AppendAudit(ctx, entries) })
}

// Audit lists the audit, or fails.
func (s *Store) Audit(ctx context.Context, nodeUUID string, after int64, limit int) ([]node.AuditEntry, error) {
	return answer(s, "Audit", func() ([]node.AuditEntry, error) { return s.inner.Audit(ctx, nodeUUID, after, limit) })
}

// LastAudit is the newest entry, or fails.
func (s *Store) LastAudit(ctx context.Context, writer string) (node.AuditEntry, bool, error) {
	return perhaps(s, "LastAudit", func() (node.AuditEntry, bool, error) { return s.inner.LastAudit(ctx, writer) })
}

// AuditSize is the size of the audit; it does not fail.
func (s *Store) AuditSize(ctx context.Context) (entries, bytes int64, err error) {
	return s.inner.AuditSize(ctx)
}

// AuditLives lists lives; it does not fail.
func (s *Store) AuditLives(ctx context.Context) ([]node.AuditLife, error) {
	return s.inner.AuditLives(ctx)
}

// AuditCuts lists cuts of the audit, or fails.
func (s *Store) AuditCuts(ctx context.Context, before time.Time) ([]node.AuditCut, error) {
	return answer(s, "AuditCuts", func() ([]node.AuditCut, error) { return s.inner.AuditCuts(ctx, before) })
}

// CutAudit cuts the audit, or fails.
func (s *Store) CutAudit(ctx context.Context, chain string, number int64, cuts []node.AuditCut) error {
	return nothing(s, "CutAudit", func() error { return s.inner.CutAudit(ctx, chain, number, cuts) })
}

// PruneAudit deletes of the audit, or fails.
func (s *Store) PruneAudit(ctx context.Context) (int, error) {
	return answer(s, "PruneAudit", func() (int, error) { return s.inner.PruneAudit(ctx) })
}

// Hold returns the hold, or fails.
func (s *Store) Hold(ctx context.Context) (node.RestoreHold, error) {
	return answer(s, "Hold", func() (node.RestoreHold, error) { return s.inner.Hold(ctx) })
}

// SetHold begins or ends a hold, or fails.
func (s *Store) SetHold(ctx context.Context, h node.RestoreHold) error {
	return nothing(s, "SetHold", func() error { return s.inner.SetHold(ctx, h) })
}
