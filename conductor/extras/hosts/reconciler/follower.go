package reconciler

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// follower looks at the documents of one kind beside hosts: after each of their changes, and after the changes
// elsewhere that they wait for.
type follower struct {
	kind  string
	queue *queue
	look  func(ctx context.Context, k key) (next, error)
	log   *slog.Logger
	now   func() time.Time

	failures failureCounts
	mu       sync.Mutex
	awaited  map[string]map[key]bool // documents, by the change that they wait for
	on       map[key][]string        // awaited, by document
	during   map[key][]string        // changes during a look that has not ended
	seen     map[key]string          // documents without their status, in a word: see userChanged
}

// next is when a document is looked at again: at a time, unless that is zero, and after changes elsewhere.
type next struct {
	at time.Time
	on []string
}

// Changes that documents wait for, beside changes of one document: see changeOf.
const (
	aFreeHost = "a host is free"
	aPolicy   = "another host may be claimed" // a HostDeployPolicy, or the labels of a Namespace
)

// changeOf is a change of one document.
func changeOf(kind string, k key) string { return kind + " " + k.String() }

// newFollower makes a follower that looks at so many documents at a time.
func (r *Reconciler) newFollower(kind string, places int,
	look func(ctx context.Context, k key) (next, error)) *follower {
	return &follower{kind: kind, look: look, log: r.Log, now: r.Now, awaited: map[string]map[key]bool{},
		on: map[key][]string{}, during: map[key][]string{}, seen: map[key]string{},
		queue: newQueue(places, func(key) string { return "" })}
}

// run looks at documents until ctx ends.
func (f *follower) run(ctx context.Context) {
	var parts sync.WaitGroup
	defer parts.Wait()
	f.queue.serve(ctx, func(k key, _ string) {
		parts.Go(func() { f.queue.done(k, f.lookSafely(ctx, k)) })
	}, f.now, func() {})
}

// lookSafely looks at one document, and records the changes that it waits for. If one of them comes during the look,
// there is another look, since the document may have been read before.
func (f *follower) lookSafely(ctx context.Context, k key) (again time.Time) {
	f.mu.Lock()
	f.during[k] = []string{}
	f.mu.Unlock()
	n, err := f.lookOnce(ctx, k)
	f.mu.Lock()
	defer f.mu.Unlock()
	came := f.during[k]
	delete(f.during, k)
	for _, change := range f.on[k] {
		if delete(f.awaited[change], k); len(f.awaited[change]) == 0 {
			delete(f.awaited, change)
		}
	}
	if delete(f.on, k); len(n.on) > 0 {
		f.on[k] = n.on
	}
	for _, change := range n.on {
		if f.awaited[change] == nil {
			f.awaited[change] = map[key]bool{}
		}
		f.awaited[change][k] = true
		if slices.Contains(came, change) {
			n.at = f.now()
		}
	}
	if err == nil || ctx.Err() != nil {
		f.failures.reset(k)
		return n.at
	}
	at, times := f.failures.pause(k, err, f.now())
	if times > 0 {
		f.log.Error("document not acted upon; tried again later", "kind", f.kind, "document", k, "times", times, "err", err)
	}
	return at
}

func (f *follower) lookOnce(ctx context.Context, k key) (n next, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a fault in this program; please report it: %v: %s", p, debug.Stack())
		}
	}()
	return f.look(ctx, k)
}

// userChanged reports whether more of a document has changed than its status. A failure that is written into the status
// must not cause the next try.
func (f *follower) userChanged(k key, e objects.Event) bool {
	d, err := e.Document()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil || e.Type == objects.Deleted {
		delete(f.seen, k)
		return true
	}
	was, m := f.seen[k], d.Meta()
	f.seen[k] = fmt.Sprint(m.UID, m.Generation, m.DeletionTimestamp != nil, m.Finalizers, m.Annotations)
	return was != f.seen[k]
}

// changed has the documents looked at that wait for one of these changes.
func (f *follower) changed(changes []string) {
	f.mu.Lock()
	var all []key
	for k := range f.during {
		f.during[k] = append(f.during[k], changes...)
	}
	for _, change := range changes {
		for k := range f.awaited[change] {
			all = append(all, k)
		}
	}
	f.mu.Unlock()
	for _, k := range all {
		f.queue.add(k, f.now())
	}
}

// newFollowers are the followers of a reconciler.
func (r *Reconciler) newFollowers() []*follower {
	return []*follower{
		r.newFollower(hostapi.KindClaim, 1, r.lookAtClaim), // one: two claims never choose at the same time
		r.newFollower(hostapi.KindSubscription, 8, r.lookAtSubscription),
		r.newFollower(hostapi.KindPreprovisioningImage, 1, r.lookAtPreprovisioningImage),
		r.newFollower(hostapi.KindNetworkAttachment, 1, noSwitches(r, (*hostapi.HostNetworkAttachment).SwitchStatus)),
		r.newFollower(hostapi.KindSwitch, 1, noSwitches(r, (*hostapi.BareMetalSwitch).SwitchStatus)),
	}
}

// listFollowed has all documents of the followers' kinds looked at.
func (r *Reconciler) listFollowed(ctx context.Context) error {
	for _, f := range r.followers {
		docs, _, err := r.Documents.List(ctx, objects.Query{Kind: f.kind})
		if err = r.skipUnreadable(err); err != nil {
			return err
		}
		for _, d := range docs {
			f.queue.add(key{d.Meta().Namespace, d.Meta().Name}, r.Now())
		}
	}
	return nil
}

// follow passes an event on to the followers. The index has it already.
func (r *Reconciler) follow(k key, e objects.Event) {
	changes := []string{changeOf(e.Key.Kind, k)}
	switch e.Key.Kind {
	case hostapi.KindHost:
		changes = r.known.changes(k)
	case hostapi.KindDeployPolicy, hostapi.KindNamespace:
		changes = append(changes, aPolicy)
	}
	for _, f := range r.followers {
		if f.kind == e.Key.Kind && f.userChanged(k, e) {
			f.queue.add(k, r.Now())
		}
		f.changed(changes)
	}
}
