package mem

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// AppendAudit adds entries.
func (s *Store) AppendAudit(ctx context.Context, entries []node.AuditEntry) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	all, last := slices.Clone(s.audit), s.audited
	for _, e := range entries {
		if slices.ContainsFunc(all, func(o node.AuditEntry) bool { return o.Chain == e.Chain && o.Number == e.Number }) {
			return fmt.Errorf("entry %d of the audit chain %s: %w", e.Number, e.Chain, node.ErrConflict)
		}
		last++
		e.ID, e.At, e.Doc = last, e.At.UTC().Truncate(time.Microsecond), slices.Clone(e.Doc)
		all = append(all, e)
	}
	s.audit, s.audited = all, last
	return s.lost
}

// Audit copies entries after an id.
func (s *Store) Audit(ctx context.Context, nodeUUID string, after int64, limit int) (found []node.AuditEntry,
	err error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for _, e := range s.audit {
		if e.ID > after && e.ID > s.cuts[e.Writer].ID && (nodeUUID == "" || e.Node == nodeUUID) && len(found) < limit {
			e.Doc = slices.Clone(e.Doc)
			found = append(found, e)
		}
	}
	return found, nil
}

// LastAudit copies the newest entry of a conductor.
func (s *Store) LastAudit(ctx context.Context, writer string) (node.AuditEntry, bool, error) {
	if err := s.lock(ctx); err != nil {
		return node.AuditEntry{}, false, err
	}
	defer s.mu.Unlock()
	for _, e := range slices.Backward(s.audit) {
		if e.Writer == writer {
			e.Doc = slices.Clone(e.Doc)
			return e, true, nil
		}
	}
	return node.AuditEntry{}, false, nil
}

// AuditSize counts the entries and their bytes.
func (s *Store) AuditSize(ctx context.Context) (entries, bytes int64, err error) {
	if err := s.lock(ctx); err != nil {
		return 0, 0, err
	}
	defer s.mu.Unlock()
	for _, e := range s.audit {
		entries, bytes = entries+1, bytes+int64(len(e.Doc))
	}
	return entries, bytes, nil
}

// AuditLives lists lives.
func (s *Store) AuditLives(ctx context.Context) (lives []node.AuditLife, err error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	of := map[string]node.AuditLife{}
	for _, e := range s.audit {
		l, found := of[e.Chain]
		if !found {
			l.From = e.At
		}
		of[e.Chain] = node.AuditLife{From: l.From, Until: e.At}
	}
	return slices.Collect(maps.Values(of)), nil
}

// AuditCuts lists cuts.
func (s *Store) AuditCuts(ctx context.Context, before time.Time) (all []node.AuditCut, err error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	cuts, stays, young := maps.Clone(s.cuts), map[string]node.AuditEntry{}, map[string]bool{}
	for _, e := range s.audit {
		if young[e.Writer] = young[e.Writer] || !e.At.Before(before); young[e.Writer] {
			continue
		}
		if was, found := stays[e.Writer]; found && was.ID > cuts[e.Writer].ID {
			cuts[e.Writer] = node.AuditCut{Writer: e.Writer, ID: was.ID, Chain: was.Chain, Number: was.Number, Hash: was.Hash}
		}
		stays[e.Writer] = e
	}
	for _, writer := range slices.Sorted(maps.Keys(cuts)) {
		all = append(all, cuts[writer])
	}
	return all, nil
}

// CutAudit keeps cuts.
func (s *Store) CutAudit(ctx context.Context, _ string, _ int64, cuts []node.AuditCut) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, c := range cuts {
		c.Done = true
		s.cuts[c.Writer] = c
	}
	return nil
}

// PruneAudit deletes all entries up to the cuts.
func (s *Store) PruneAudit(ctx context.Context) (int, error) {
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	before := len(s.audit)
	s.audit = slices.DeleteFunc(slices.Clone(s.audit), func(e node.AuditEntry) bool { return e.ID <= s.cuts[e.Writer].ID })
	return before - len(s.audit), nil
}
