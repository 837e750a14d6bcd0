package reconciler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Engine reads nodes, and acts on them. Its methods are safe for concurrent use. A refused act is a *node.Refusal.
type Engine interface {
	Verbs
	Node(ctx context.Context, ref string) (node.Node, error)
	// NodesAt are the nodes with a BMC at a host: a name or an address.
	NodesAt(ctx context.Context, host string) ([]node.Node, error)
	Ports(ctx context.Context, q node.PortQuery) ([]node.Port, error)
	Inspected(ctx context.Context, ref string) (node.Inspected, error)
	// History is a node's history, oldest entry first.
	History(ctx context.Context, ref string) ([]node.HistoryEntry, error)
	HardwareReport(ctx context.Context, ref string) (node.HardwareReport, error)
	// CountUnowned is how many nodes that no project owns are in each state, of those at work or waiting.
	CountUnowned() map[node.State]int
}

// Config has the dependencies and limits of a reconciler.
type Config struct {
	Documents         *objects.Keeper
	Log               *slog.Logger
	ProvisioningLimit int              // how many nodes may be busy at a time; 0 for any number
	Workers           int              // hosts looked at at a time, and of one conductor group; 8 when 0
	Now               func() time.Time // the clock; time.Now when nil
	// RecordEvents records events of a document; nil for none.
	RecordEvents func(of hostapi.Document, all []hostapi.Event)
	Groups       Groups // nil for a conductor without a cluster, which acts on all nodes
	// DeployImages are the ramdisks that PreprovisioningImages may name, the preferred one first.
	DeployImages []DeployImage
}

// Reconciler reconciles hosts with their machines. It is safe for concurrent use.
type Reconciler struct {
	Config
	engine   Engine
	queue    *queue
	workers  chan struct{} // one for each host that is looked at, except those in withoutWorker
	known    *index
	waits    waits
	capacity capacity
	started  time.Time

	failures  failureCounts
	followers []*follower // of the documents beside hosts

	subscribing sync.Map // hosts with a request about a subscription under way
}

// New makes a reconciler; Run starts it. The engine that Run is given is to call
// NodeChanged.
func New(c Config) *Reconciler {
	if c.Workers == 0 {
		c.Workers = 8
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	known := newIndex()
	r := &Reconciler{Config: c, queue: newQueue(c.Workers, known.groupOf), workers: make(chan struct{}, c.Workers),
		known: known}
	r.followers = r.newFollowers()
	return r
}

// NodeChanged is called after every write to a node. It does not block.
// While the conductor itself is at work on a node there is nothing to be done
// for its host, but to see that its workload is being deleted.
func (r *Reconciler) NodeChanged(n node.Node) {
	if n.ProvisionState.Class() == node.Working && n.ProvisionState != node.Deleting {
		return
	}
	if key, ok := r.known.hostOf(n.UUID); ok {
		r.queue.add(key, r.Now())
	}
	r.enqueue(r.waits.take(n.UUID)...)
	r.queue.wakeUp()
}

// Run reconciles hosts until ctx ends, and returns once the work under way has ended.
func (r *Reconciler) Run(ctx context.Context, e Engine) {
	r.engine, r.started = e, r.Now()
	var parts sync.WaitGroup
	parts.Go(func() { r.watch(ctx) })
	for _, f := range r.followers {
		parts.Go(func() { f.run(ctx) })
	}
	r.queue.serve(ctx, func(k key, group string) {
		select {
		case r.workers <- struct{}{}: // before the goroutine: a goroutine for each group would be any number
		case <-ctx.Done():
			return
		}
		parts.Go(func() {
			defer func() { <-r.workers }()
			r.queue.done(k, r.reconcileSafely(ctx, k, group))
		})
	}, r.Now, func() { r.admitDelayed(ctx) })
	parts.Wait()
}

// reconcileSafely makes a line in the log of a panic: one host must not end the
// conductor of all the others.
func (r *Reconciler) reconcileSafely(ctx context.Context, k key, group string) (requeueAt time.Time) {
	defer func() {
		if p := recover(); p != nil {
			requeueAt = r.afterFailure(k, fmt.Errorf("a fault in this program; please report it: %v: %s", p, debug.Stack()))
		}
	}()
	requeueAt, err := r.reconcile(ctx, k, group)
	var away *AwayError
	switch {
	case err == nil:
		r.failures.reset(k)
	case errors.Is(err, errOtherGroup):
		requeueAt = r.Now()
	case errors.As(err, &away): // which Groups says in the host's status, should it last
		requeueAt = r.Now().Add(lockedPause)
	case ctx.Err() == nil:
		requeueAt = r.afterFailure(k, err)
	}
	return requeueAt
}

// reconcile does the next act for one host, and returns the time of the next look; the zero time waits for an event.
// group is the group of the place that the host has.
func (r *Reconciler) reconcile(ctx context.Context, k key, group string) (requeueAt time.Time, err error) {
	h, err := objects.Get[hostapi.Host](ctx, r.Documents, k.namespace, k.name)
	if errors.Is(err, objects.ErrNotFound) {
		return r.releaseImage(ctx, k)
	}
	if err != nil || !r.known.current(h) { // the event of the newer document is on its way, and causes a look
		return time.Time{}, err
	}
	facts, err := r.gather(ctx, h, group)
	if err != nil {
		return time.Time{}, err
	}
	switch err := r.saveFirmware(ctx, &facts); {
	// another client was first
	case errors.Is(err, objects.ErrConflict) || errors.Is(err, objects.ErrExists) || errors.Is(err, objects.ErrNotFound):
		return time.Time{}, errOvertaken
	case err != nil:
		return time.Time{}, err
	}
	d, release, err := r.ensureCapacity(ctx, &facts, host.Decide(facts))
	if err != nil {
		return time.Time{}, err
	}
	defer release()
	if d.Err != nil {
		return time.Time{}, d.Err
	}
	if d.Action != nil {
		var later bool
		if d, later, err = r.attempt(ctx, k, facts, d); later || err != nil {
			return r.Now().Add(lockedPause), err
		}
	}
	return r.save(ctx, outcome{k, facts, d})
}

// attempt does the decided action. A node that is reserved, or has changed meanwhile, is tried later. Any other refusal
// becomes the host's error.
func (r *Reconciler) attempt(ctx context.Context, k key, facts host.Facts,
	d host.Decision) (_ host.Decision, later bool, err error) {
	err = r.act(ctx, k, facts, d.Action)
	if err == nil {
		r.Log.Info("host", "host", k, "state", d.Host.Status.Provisioning.State, "action", actionName(d.Action))
		return d, false, nil
	}
	var refusal *node.Refusal
	if !errors.As(err, &refusal) {
		return d, false, fmt.Errorf("%s: %w", actionName(d.Action), err)
	}
	waits := refusal.Kind == node.Locked || refusal.Kind == node.Busy
	if waits || r.nodeChanged(ctx, facts) {
		return d, true, nil
	}
	return host.Refused(facts, d, r.reasonOf(ctx, k, refusal, err)), false, nil
}

// reasonOf is the reason of a refusal. Where another node has the host's machine, it names that node.
func (r *Reconciler) reasonOf(ctx context.Context, k key, refusal *node.Refusal, err error) string {
	var taken *node.MachineTakenError
	if !errors.As(err, &taken) {
		return refusal.Reason
	}
	r.awaitNode(k, taken.Other)
	name := taken.Other
	if n, err := r.engine.Node(ctx, taken.Other); err == nil {
		name = cmp.Or(n.Name, n.UUID)
	}
	return fmt.Sprintf("the BMC %s is that of node %s already: correct spec.bmc.address, or delete that node",
		taken.Machine.Endpoint, name)
}

// nodeChanged reports whether the node has changed since the decision.
func (r *Reconciler) nodeChanged(ctx context.Context, facts host.Facts) bool {
	if facts.Node == nil {
		return false
	}
	n, err := r.engine.Node(ctx, facts.Node.UUID)
	return err != nil || n.Revision != facts.Node.Revision
}
