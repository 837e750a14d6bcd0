package serve

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/reconciler"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/remote"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// groupHosts has the hosts of a cluster and the nodes of all its groups know of each other, for a term: the leader of
// the default group has a caller, the others a teller. Nil for a conductor without a cluster.
type groupHosts struct {
	caller *remote.Caller
	teller *remote.Teller
	read   remote.Read
}

func (m *member) hostsOfGroups(t *cluster.Term, db *store.Database) *groupHosts {
	call := func(ctx context.Context, group, path string, body []byte) ([]byte, error) {
		answer, err := m.calls.Call(ctx, t.Lease, group, cluster.MemberPaths+path, body)
		if cluster.Unserved(err) {
			err = &remote.UnservedError{Err: err}
		}
		return answer, err
	}
	h := &groupHosts{read: m.all.CalledBy}
	if t.Lease.Group == remote.Default {
		h.caller = remote.NewCaller(remote.Config{Call: call, Room: m.all, Count: db.CountInGroups,
			Patience: m.patience(), Log: m.log})
	} else {
		h.teller = remote.NewTeller(t.Lease.Group, call, m.log)
	}
	return h
}

// groups are those beside the default one, for its leader.
func (h *groupHosts) groups() reconciler.Groups {
	if h == nil || h.caller == nil { // a nil pointer in an interface would not be nil
		return nil
	}
	return h.caller
}

// listener has hosts look at each node that has changed.
func (h *groupHosts) listener(hosts *reconciler.Reconciler) engine.Listener {
	if h == nil || h.teller == nil {
		return engine.EachNode(hosts.NodeChanged)
	}
	return engine.EachNode(h.teller.NodeChanged)
}

// begin has the leader of the default group watch the others until ctx ends, and answers the calls of other leaders.
func (h *groupHosts) begin(ctx context.Context, kept *sync.WaitGroup, e *engine.Engine,
	hosts *reconciler.Reconciler) http.Handler {
	switch {
	case h == nil:
		return nil
	case h.teller != nil:
		return remote.Server(cluster.MemberPaths, h.read, e)
	default:
		kept.Go(func() { h.caller.Watch(ctx, hosts.GroupChanged) })
		return h.caller.Listener(cluster.MemberPaths, h.read, hosts)
	}
}

// tell has the leader of another group tell of its nodes until ctx ends. It begins once calls are answered: the first
// news is that of a new leader, which all its hosts turn to at once.
func (h *groupHosts) tell(ctx context.Context, kept *sync.WaitGroup) {
	if h.teller != nil {
		kept.Go(func() { h.teller.Run(ctx) })
	}
}

// answering answers the requests of clients, and the calls of other leaders in a cluster: a front passes on no request
// of a client to a path of members.
func (w *work) answering() http.Handler {
	if w.between == nil {
		return w.face
	}
	return http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, cluster.MemberPaths) {
			w.between.ServeHTTP(to, r)
			return
		}
		w.face.ServeHTTP(to, r)
	})
}
