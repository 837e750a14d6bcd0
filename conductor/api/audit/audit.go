// Package audit keeps a record of requests: their callers, objects and changes. Each process of a conductor has one
// chain of hashes, so that no lock is shared, and an entry that is changed or missing is found.
//
// It must not decide anything. Only old entries are deleted, and an entry of its own then says so.
package audit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Store keeps entries.
type Store interface {
	AppendAudit(ctx context.Context, entries []node.AuditEntry) error
	Audit(ctx context.Context, nodeUUID string, after int64, limit int) ([]node.AuditEntry, error)
	LastAudit(ctx context.Context, writer string) (node.AuditEntry, bool, error)
	AuditSize(ctx context.Context) (entries, bytes int64, err error)
	AuditLives(ctx context.Context) ([]node.AuditLife, error)
	AuditCuts(ctx context.Context, before time.Time) ([]node.AuditCut, error)
	CutAudit(ctx context.Context, chain string, number int64, cuts []node.AuditCut) error
	PruneAudit(ctx context.Context) (int, error)
}

// maxBatch bounds the entries that are written together.
const maxBatch = 128

// writeTime bounds one try to write.
const writeTime = 30 * time.Second

// Recorder writes one chain. It is safe for concurrent use.
type Recorder struct {
	store     Store
	conductor string
	now       func() time.Time

	mu      sync.Mutex
	waiting []*pending
	writing bool
	chain   string
	number  int64
	hash    string
	link    *nodeapi.AuditLink // for the first entry

	opened time.Time

	folds   folds
	pruning sync.Mutex
}

// pending is an entry that is not written yet.
type pending struct {
	entry  nodeapi.AuditEntry
	node   string
	number int64 // in the chain, once it is written
	done   chan struct{}
	err    error
}

// Open begins a chain, which goes on after the last one of this conductor.
func Open(ctx context.Context, s Store, conductor string, now func() time.Time) (*Recorder, error) {
	last, found, err := s.LastAudit(ctx, conductor)
	if err != nil {
		return nil, err
	}
	unique := make([]byte, 8)
	rand.Read(unique) // never fails
	r := &Recorder{store: s, conductor: conductor, now: now, opened: now(),
		folds: folds{kinds: map[node.RefusedRequest]*folded{}, of: map[node.RefusedRequest]int{}},
		chain: fmt.Sprintf("%s %s %s", conductor, now().UTC().Format("2006-01-02T15:04:05Z"), hex.EncodeToString(unique))}
	if found {
		r.link = &nodeapi.AuditLink{Chain: last.Chain, Number: last.Number, Hash: last.Hash}
	}
	return r, nil
}

// Record writes an entry, and returns when it is safe. Entries of requests at one time are written together.
func (r *Recorder) Record(e nodeapi.AuditEntry) error {
	return r.record(&pending{entry: e, node: e.Node, done: make(chan struct{})})
}

func (r *Recorder) record(p *pending) error {
	p.entry.Conductor = r.conductor
	if p.entry.At == "" {
		p.entry.At = r.stamp()
	}
	r.mu.Lock()
	r.waiting = append(r.waiting, p)
	write := !r.writing
	r.writing = true
	r.mu.Unlock()
	if write {
		go r.write()
	}
	<-p.done
	return p.err
}

// stamp is the time of an entry.
func (r *Recorder) stamp() string { return r.now().UTC().Format(time.RFC3339Nano) }

// write writes the waiting entries, until none are left.
func (r *Recorder) write() {
	for {
		r.mu.Lock()
		batch := r.waiting[:min(len(r.waiting), maxBatch)]
		r.waiting = r.waiting[len(batch):]
		if len(batch) == 0 {
			r.writing = false
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		err := r.append(batch)
		for _, p := range batch {
			p.err = err
			close(p.done)
		}
	}
}

// append adds entries to the chain. Only one goroutine is in it.
func (r *Recorder) append(batch []*pending) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	entries, err := r.chained(batch)
	if err != nil {
		return err
	}
	err = r.store.AppendAudit(ctx, entries)
	if errors.Is(err, node.ErrConflict) { // an earlier write took effect, although its answer was an error
		if err = r.catchUp(ctx); err == nil {
			if entries, err = r.chained(batch); err == nil {
				err = r.store.AppendAudit(ctx, entries)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("write the audit: %w", err)
	}
	last := entries[len(entries)-1]
	r.number, r.hash, r.link = last.Number, last.Hash, nil
	return nil
}

// chained are entries with the numbers and hashes that follow.
func (r *Recorder) chained(batch []*pending) (entries []node.AuditEntry, err error) {
	number, hash, link := r.number, r.hash, r.link
	for _, p := range batch {
		p.entry.Previous, link = link, nil
		doc, err := json.Marshal(p.entry)
		if err != nil {
			return nil, err
		}
		number++
		p.number = number
		hash = nodeapi.AuditHash(hash, r.chain, number, doc)
		entries = append(entries, node.AuditEntry{At: r.now(), Writer: r.conductor, Chain: r.chain, Number: number,
			Hash: hash,
			Node: p.node, Doc: doc, Done: changed(&p.entry)})
	}
	return entries, nil
}

// changed reports whether an entry is of a request that was done and wrote something, or of the audit itself. On a full
// disk such requests have made room. Logins write nothing, and could be repeated until the reserve is used up.
func changed(e *nodeapi.AuditEntry) bool {
	return e.Status == 0 || e.Status < http.StatusBadRequest && (e.Node != "" || e.Name != "" || len(e.Changes) > 0)
}

// catchUp reads the end of the chain again.
func (r *Recorder) catchUp(ctx context.Context) error {
	last, found, err := r.store.LastAudit(ctx, r.conductor)
	switch {
	case err != nil:
		return err
	case !found || last.Chain != r.chain:
		return fmt.Errorf("the chain %s is another's: %w", r.chain, node.ErrConflict)
	}
	r.number, r.hash, r.link = last.Number, last.Hash, nil
	return nil
}

// Entries lists at most limit entries after an id, oldest first; of a node, if one is named.
func (r *Recorder) Entries(ctx context.Context, nodeUUID string, after int64, limit int) ([]node.AuditEntry, error) {
	return r.store.Audit(ctx, nodeUUID, after, limit)
}
