package audit

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// pruneEvery is the time between two looks for entries that are too old.
const pruneEvery = time.Hour

// Prune deletes the entries before a time, of all conductors, on request of a user. First an entry of the audit records
// the ends of the deleted chains, so that the rest can be verified.
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

// Pruned returns the ends of the deleted chains.
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

// Before is the time before which all entries have an age for sure. A clock may have been set, and a deletion is for
// good: only the time that conductors ran counts, by the entries of each and this process's life.
func (r *Recorder) Before(ctx context.Context, age time.Duration) (time.Time, error) {
	lives, err := r.store.AuditLives(ctx)
	now := r.now()
	return ranBefore(append(lives, node.AuditLife{From: r.opened, Until: now}), now, age), err
}

// ranBefore goes back from now by an age, in which it counts the time of lives alone.
func ranBefore(lives []node.AuditLife, now time.Time, age time.Duration) time.Time {
	slices.SortFunc(lives, func(a, b node.AuditLife) int { return b.Until.Compare(a.Until) })
	at := now
	for _, l := range lives {
		if l.Until.Before(at) {
			at = l.Until
		}
		ran := at.Sub(l.From)
		if ran >= age {
			break
		}
		if ran > 0 {
			at, age = l.From, age-ran
		}
	}
	return at.Add(-age)
}

// Keep deletes entries of an age, until ctx ends.
func (r *Recorder) Keep(ctx context.Context, age time.Duration, log *slog.Logger) {
	for ctx.Err() == nil {
		var done nodeapi.AuditPruned
		before, err := r.Before(ctx, age)
		if err == nil {
			done, err = r.Prune(ctx, before, "")
		}
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
