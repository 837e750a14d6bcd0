package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/reconciler"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Read reads a call. It refuses one of a conductor that does not lead a group (any longer).
type Read func(w http.ResponseWriter, r *http.Request, group string) (body []byte, err error)

// Server carries out the acts on a group's nodes that the leader of the default group asks for. Its paths are below
// prefix.
func Server(prefix string, read Read, verbs reconciler.Verbs) http.Handler {
	mux := http.NewServeMux()
	for path, do := range map[string]func(ctx context.Context, o order) (answer, error){
		actPath: func(ctx context.Context, o order) (is answer, err error) {
			a, err := o.action()
			if err != nil {
				return is, err
			}
			if o.Node != "" {
				ctx = node.AtRevision(ctx, o.Revision)
			}
			is.Node, err = inTime(ctx, a, func(ctx context.Context) (string, error) {
				return reconciler.Act(ctx, verbs, o.Node, a)
			})
			return is, err
		},
		mediaPath: func(ctx context.Context, o order) (is answer, err error) {
			is.Slots, err = verbs.MediaSlots(ctx, o.Node)
			return is, err
		},
	} {
		mux.HandleFunc("POST "+prefix+path, func(w http.ResponseWriter, r *http.Request) {
			body, err := read(w, r, Default)
			if err != nil {
				http.Error(w, err.Error(), http.StatusForbidden)
				return
			}
			reply(w, answerOf(r.Context(), body, do))
		})
	}
	return mux
}

// answerOf carries an order out. Every result is an answer, even a failure or a panic: the sender takes a missing
// answer for a silent group, but the failure concerns one node alone.
func answerOf(ctx context.Context, body []byte, do func(ctx context.Context, o order) (answer, error)) (is answer) {
	defer func() {
		if p := recover(); p != nil {
			is = answer{Failed: fmt.Sprintf("a fault in this program; please report it: %v: %s", p, debug.Stack())}
		}
	}()
	var o order
	err := json.Unmarshal(body, &o)
	if err == nil {
		is, err = do(ctx, o)
	}
	if is.Refused = refusalOf(err); err != nil && is.Refused == nil {
		is.Failed = err.Error()
	}
	return is
}

// Hosts looks at hosts when their nodes change.
type Hosts interface {
	NodeChanged(n node.Node)
	GroupChanged(group string)
}

// Listener receives the nodes of other groups that have changed, and the groups that have a new leader. The new leader
// is called even if calls to the former one failed.
func (c *Caller) Listener(prefix string, read Read, hosts Hosts) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+prefix+changedPath, func(w http.ResponseWriter, r *http.Request) {
		var n news
		group := r.URL.Query().Get("group")
		body, err := read(w, r, group)
		if err == nil {
			err = json.Unmarshal(body, &n)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		if n.All {
			c.reach.answered(group)
			hosts.GroupChanged(group) // read has checked that the sender leads it
		}
		for _, of := range n.Nodes {
			hosts.NodeChanged(node.Node{UUID: of.UUID, ProvisionState: of.State, ConductorGroup: group})
		}
		reply(w, answer{})
	})
	return mux
}

func reply(w http.ResponseWriter, is answer) {
	w.Header().Set("Content-Type", "application/json")
	err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(replyTime))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return
	}
	_ = json.NewEncoder(w).Encode(is) // a caller that has gone asks again
}

const replyTime = time.Minute
