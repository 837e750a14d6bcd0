package audit

import (
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Refused requests of one kind share entries. The first has an entry of its own, and the requests of the minute after
// it share one more. Kinds beyond these bounds share the entries of their sender; kinds of strangers share one for all
// strangers.
const (
	foldTime      = time.Minute
	senderKinds   = 16
	strangerKinds = 64
)

// folds are the kinds of refused requests of the last minute.
type folds struct {
	mu    sync.Mutex
	kinds map[node.RefusedRequest]*folded
	of    map[node.RefusedRequest]int // kinds of a sender, and of all strangers
}

// folded is refused requests that wait for their entry.
type folded struct {
	last  nodeapi.AuditEntry
	count int
}

// strangers are all senders without a known identity.
var strangers = node.RefusedRequest{Stranger: true}

// Refused writes an entry of a refused request, or counts the request in an entry that is written within a minute. lost
// is called with the error when that later write fails.
func (r *Recorder) Refused(of node.RefusedRequest, e nodeapi.AuditEntry, lost func(nodeapi.AuditEntry, error)) error {
	e.At = r.stamp()
	of, isNew := r.folds.add(of, e)
	if !isNew {
		return nil
	}
	time.AfterFunc(foldTime, func() { r.unfold(of, lost) })
	return r.Record(e)
}

// add counts a request in its kind, or in the narrowest kind that has room. It returns the kind, and reports whether it
// is new.
func (f *folds) add(of node.RefusedRequest, e nodeapi.AuditEntry) (node.RefusedRequest, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	sender := node.RefusedRequest{Sender: of.Sender, Stranger: of.Stranger}
	if f.kinds[of] == nil && f.of[sender] >= senderKinds {
		of = sender
	}
	if f.kinds[of] == nil && of.Stranger && f.of[strangers] >= strangerKinds {
		of = strangers
	}
	if known := f.kinds[of]; known != nil {
		known.last, known.count = e, known.count+1
		return of, false
	}
	f.kinds[of] = &folded{}
	f.count(of, 1)
	return of, true
}

// count counts a kind with its sender.
func (f *folds) count(of node.RefusedRequest, n int) {
	groups := []node.RefusedRequest{{Sender: of.Sender, Stranger: of.Stranger}}
	if of.Stranger && of.Sender != "" {
		groups = append(groups, strangers)
	}
	for _, g := range groups {
		if f.of[g] += n; f.of[g] == 0 {
			delete(f.of, g)
		}
	}
}

// take ends the minute of a kind, and begins another where there were requests in it.
func (f *folds) take(of node.RefusedRequest) (last nodeapi.AuditEntry, found bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.kinds[of]
	if k == nil || k.count == 0 {
		if k != nil {
			delete(f.kinds, of)
			f.count(of, -1)
		}
		return last, false
	}
	last = k.last
	if last.Omitted = k.count - 1; last.Omitted > 0 && of.Kind == "" {
		last.Note = "the requests without an entry are of several kinds"
		if of.Sender == "" {
			last.Note = "the requests without an entry are of several senders"
		}
	}
	*k = folded{}
	return last, true
}

func (r *Recorder) unfold(of node.RefusedRequest, lost func(nodeapi.AuditEntry, error)) {
	last, found := r.folds.take(of)
	if !found {
		return
	}
	time.AfterFunc(foldTime, func() { r.unfold(of, lost) })
	if err := r.Record(last); err != nil {
		lost(last, err)
	}
}

// Close writes the entries of refused requests that were counted and have none yet.
func (r *Recorder) Close(lost func(nodeapi.AuditEntry, error)) {
	r.folds.mu.Lock()
	var all []node.RefusedRequest
	for of := range r.folds.kinds {
		all = append(all, of)
	}
	r.folds.mu.Unlock()
	for _, of := range all {
		if last, found := r.folds.take(of); found {
			if err := r.Record(last); err != nil {
				lost(last, err)
			}
		}
	}
}
