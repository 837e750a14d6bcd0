package serve

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// otherGroups lets the leader of a group reach the leaders of other groups during its term.
type otherGroups struct {
	group   string // its own
	cluster *cluster.Cluster
	log     *slog.Logger
	// call posts body to the leader of a group. The path is below cluster.MemberPaths.
	call func(ctx context.Context, group, path string, body []byte) (answer []byte, err error)
	// count is how many nodes of some groups are in one of some states.
	count func(ctx context.Context, groups []string, in map[node.State]bool) (int, error)
}

func (m *member) otherGroups(t *cluster.Term, db *store.Database) *otherGroups {
	return &otherGroups{group: t.Lease.Group, cluster: m.all, log: m.log, count: db.CountInGroups,
		call: func(ctx context.Context, group, path string, body []byte) ([]byte, error) {
			return m.calls.Call(ctx, t.Lease, group, path, body)
		}}
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
