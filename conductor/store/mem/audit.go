package mem

import (
	"context"
	"fmt"
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
	all := slices.Clone(s.audit)
	for _, e := range entries {
		if slices.ContainsFunc(all, func(o node.AuditEntry) bool { return o.Chain == e.Chain && o.Number == e.Number }) {
			return fmt.Errorf("entry %d of the audit chain %s: %w", e.Number, e.Chain, node.ErrConflict)
		}
		e.ID, e.At, e.Doc = int64(len(all)+1), e.At.UTC().Truncate(time.Microsecond), slices.Clone(e.Doc)
		all = append(all, e)
	}
	s.audit = all
	return nil
}

// Audit copies entries after an id.
func (s *Store) Audit(ctx context.Context, nodeUUID string, after int64, limit int) (found []node.AuditEntry,
	err error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for _, e := range s.audit {
		if e.ID > after && (nodeUUID == "" || e.Node == nodeUUID) && len(found) < limit {
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
