//go:build !nohosts

package serve

import (
	"context"
	"net/http"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/reconciler"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/remote"
)

// groupHosts has the hosts of a cluster and the nodes of all its groups know of each other, for a term: the leader of
// the default group has a caller, the others a notifier. Nil for a conductor without a cluster.
type groupHosts struct {
	caller   *remote.Caller
	notifier *remote.Notifier
	read     remote.Read
}

func newGroupHosts(o *otherGroups, w *work) *groupHosts {
	if o == nil {
		return nil
	}
	call := func(ctx context.Context, group, path string, body []byte) ([]byte, error) {
		answer, err := o.call(ctx, group, cluster.MemberPaths+path, body)
		if cluster.Unserved(err) {
			err = &remote.UnservedError{Err: err}
		}
		return answer, err
	}
	h := &groupHosts{read: o.cluster.CalledBy}
	if o.group == remote.Default {
		h.caller = remote.NewCaller(remote.Config{Call: call, Cluster: o.cluster, Count: o.count,
			Patience: w.conf.BMC, Log: o.log})
	} else {
		h.notifier = remote.NewNotifier(o.group, call, o.log)
	}
	return h
}

// groups are the groups beside the default one, for its leader.
func (h *groupHosts) groups() reconciler.Groups {
	if h == nil || h.caller == nil { // a nil pointer in an interface would not be nil
		return nil
	}
	return h.caller
}

// listener has hosts look at each node that has changed.
func (h *groupHosts) listener(hosts *reconciler.Reconciler) engine.Listener {
	if h == nil || h.notifier == nil {
		return engine.EachNode(hosts.NodeChanged)
	}
	return engine.EachNode(h.notifier.NodeChanged)
}

// begin has the leader of the default group watch the others until ctx ends, and answers the calls of other leaders.
func (h *groupHosts) begin(ctx context.Context, kept *sync.WaitGroup, e *engine.Engine,
	hosts *reconciler.Reconciler) http.Handler {
	switch {
	case h == nil:
		return nil
	case h.notifier != nil:
		return remote.Server(cluster.MemberPaths, h.read, e)
	default:
		kept.Go(func() { h.caller.Watch(ctx, hosts.GroupChanged) })
		return h.caller.Listener(cluster.MemberPaths, h.read, hosts)
	}
}
