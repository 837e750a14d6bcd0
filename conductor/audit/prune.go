package audit

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// pruneEvery is the time between two looks for entries that are too old.
const pruneEvery = time.Hour

// Prune deletes the entries before a time, of all conductors. An entry of the audit names the ends of what is deleted
// before it goes, so that the rest can be verified; who is the user that asked for it.
func (r *Recorder) Prune(ctx context.Context, before time.Time, who string) (done nodeapi.AuditPruned, err error) {
	r.pruning.Lock()
	defer r.pruning.Unlock()
	cuts, err := r.store.AuditCuts(ctx, before)
	if err != nil {
		return done, err
	}
	isNew := false
	for _, c := range cuts {
		isNew = isNew || !c.Done
	}
	done.Pruned = links(cuts)
	if isNew {
		p := &pending{done: make(chan struct{}), entry: nodeapi.AuditEntry{User: who, Pruned: done.Pruned,
			Note: "entries before " + before.UTC().Format(time.RFC3339) + " were pruned"}}
		if err := r.record(p); err != nil {
			return done, err
		}
		if err := r.store.CutAudit(ctx, r.chain, p.number, cuts); err != nil {
			return done, err
		}
	}
	for {
		n, err := r.store.PruneAudit(ctx)
		done.Entries += n
		if err != nil || n == 0 {
			return done, err
		}
	}
}

// Pruned are the ends of what was deleted.
func (r *Recorder) Pruned(ctx context.Context) ([]nodeapi.AuditLink, error) {
	cuts, err := r.store.AuditCuts(ctx, time.Time{})
	return links(cuts), err
}

func links(cuts []node.AuditCut) []nodeapi.AuditLink {
	all := []nodeapi.AuditLink{}
	for _, c := range cuts {
		all = append(all, nodeapi.AuditLink{Chain: c.Chain, Number: c.Number, Hash: c.Hash})
	}
	return all
}

// Now is a time that has come for sure: that of the newest entry before the start, and what has passed since. The
// clock may have been set while the conductor was away, and a deletion is for good.
func (r *Recorder) Now() time.Time {
	now := r.now()
	if at := r.last.Add(now.Sub(r.opened)); !r.last.IsZero() && at.Before(now) {
		return at
	}
	return now
}

// Keep deletes entries of an age, until ctx ends.
func (r *Recorder) Keep(ctx context.Context, age time.Duration, log *slog.Logger) {
	for ctx.Err() == nil {
		before := r.Now().Add(-age)
		done, err := r.Prune(ctx, before, "")
		switch {
		case err != nil && ctx.Err() == nil:
			log.Error("old entries of the audit could not be pruned; tried again in an hour", "before", before, "err", err)
		case done.Entries > 0:
			log.Info("audit pruned", "before", before, "entries", done.Entries)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pruneEvery):
		}
	}
}

// Size is how many entries the audit has, and how many bytes these are.
func (r *Recorder) Size(ctx context.Context) (entries, bytes int64, err error) {
	if entries, bytes, err = r.store.AuditSize(ctx); err != nil {
		return 0, 0, fmt.Errorf("read the size of the audit: %w", err)
	}
	return entries, bytes, nil
}
