package remote

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/reconciler"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

var quiet = slog.New(slog.DiscardHandler)

// leader is a conductor that acts, or refuses to.
type leader struct {
	refuses error
	panics  bool
	at      []int64 // revisions that were expected
}

func (l *leader) act(ctx context.Context) error {
	var refused *node.Refusal
	for r := range int64(100) { // which revision ctx expects can only be found out
		if err := node.CheckRevision(ctx, &node.Node{Revision: r}); !errors.As(err, &refused) {
			l.at = append(l.at, r)
			break
		}
	}
	return l.refuses
}

func (l *leader) CreateNode(ctx context.Context, n node.Node) (node.Node, error) {
	n.UUID = "made"
	return n, l.act(ctx)
}
func (l *leader) UpdateNode(ctx context.Context, _ string, edit func(*node.Node) error) (n node.Node, err error) {
	n.Revision = 7
	return n, errors.Join(edit(&n), l.act(ctx))
}
func (l *leader) CreatePort(ctx context.Context, p node.Port) (node.Port, error) {
	return p, l.act(ctx)
}
func (l *leader) Provision(ctx context.Context, _ string, _ plan.Request) error { return l.act(ctx) }
func (l *leader) SetPower(ctx context.Context, _ string, _ node.PowerState, _ time.Duration) error {
	return l.act(ctx)
}
func (l *leader) TryPower(ctx context.Context, _ string, _ node.PowerState) error { return l.act(ctx) }
func (l *leader) SetMaintenance(ctx context.Context, _ string, _ bool, _ string) error {
	return l.act(ctx)
}
func (l *leader) SetTargetRAIDConfig(ctx context.Context, _ string, _ map[string]any) error {
	return l.act(ctx)
}
func (l *leader) MediaSlots(ctx context.Context, _ string) ([]node.MediaSlot, error) {
	return []node.MediaSlot{{Types: []string{"CD"}}}, l.act(ctx)
}
func (l *leader) AttachMedium(ctx context.Context, _ string, _ node.Medium) error { return l.act(ctx) }
func (l *leader) DetachMedia(ctx context.Context, _ string, _ []string) error     { return l.act(ctx) }
func (l *leader) CallVendor(ctx context.Context, _, _, _ string, _ map[string]any) (any, bool, error) {
	return map[string]any{"Id": "made"}, false, l.act(ctx)
}
func (l *leader) DeleteNode(ctx context.Context, _ string) error {
	if l.panics {
		panic("a planted fault")
	}
	return l.act(ctx)
}

// groups is a cluster with the groups of its map, some of which have a leader.
type groups map[string]bool

func (r groups) Groups() (all []string) {
	for g := range r {
		all = append(all, g)
	}
	return all
}
func (r groups) Led(group string) bool   { return r[group] }
func (r groups) Looked() <-chan struct{} { return nil }

// wired is a caller before a handler.
func wired(h http.Handler) *Caller {
	return NewCaller(Config{Log: quiet, Cluster: groups{"rack-a": true}, Patience: node.DefaultPatience(),
		Count: func(_ context.Context, groups []string, _ map[node.State]bool) (int, error) { return len(groups), nil },
		Call: func(ctx context.Context, _, path string, body []byte) ([]byte, error) {
			q := httptest.NewRequestWithContext(ctx, http.MethodPost, "/cluster/"+path, strings.NewReader(string(body)))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, q)
			if w.Code != http.StatusOK {
				return nil, errors.New(w.Body.String())
			}
			return w.Body.Bytes(), nil
		}})
}

func plainly(_ http.ResponseWriter, r *http.Request, _ string) ([]byte, error) {
	return io.ReadAll(r.Body)
}

// TestAct: a leader acts at the revision of the decision. Its refusals arrive unchanged, and its failures concern one
// node alone. A call that is not read is an AwayError.
func TestAct(t *testing.T) {
	l := &leader{}
	c := wired(Server("/cluster/", plainly, l))
	n := node.Node{UUID: "n1", Revision: 7}
	if uuid, err := c.Act(t.Context(), "rack-a", n, host.DeleteNode{}); err != nil || uuid != "n1" {
		t.Errorf("acted on %q, %v", uuid, err)
	}
	if uuid, err := c.Act(t.Context(), "rack-a", node.Node{}, host.CreateNode{}); err != nil || uuid != "made" {
		t.Errorf("made %q, %v", uuid, err)
	}
	if diff := cmp.Diff([]int64{7, 0}, l.at); diff != "" {
		t.Errorf("revisions (-want +got):\n%s", diff)
	}
	if slots, err := c.MediaSlots(t.Context(), "rack-a", n); err != nil || len(slots) != 1 {
		t.Errorf("slots %v, %v", slots, err)
	}
	for _, want := range []error{
		node.Refuse(node.NotFound, "Node n1 could not be found."), node.Refuse(node.Locked, "busy"),
		&node.MachineTakenError{Machine: node.Machine{Driver: "ipmi", Endpoint: "a:1"}, Other: "n2"},
		&node.OtherGroupError{Node: "n1", Group: "rack-b"},
	} {
		l.refuses = want
		_, err := c.Act(t.Context(), "rack-a", n, host.DeleteNode{})
		var is, refused *node.Refusal
		if !errors.As(err, &is) || !errors.As(want, &refused) || *is != *refused {
			t.Errorf("a refusal %v arrives as %v", want, err)
		}
		var taken *node.MachineTakenError
		if errors.As(want, &taken) && (!errors.As(err, &taken) || taken.Other != "n2") {
			t.Errorf("the other node is lost in %v", err)
		}
	}
	var away *reconciler.AwayError
	l.refuses = errors.New("the disk is full")
	for _, want := range []string{"the disk is full", "a planted fault"} {
		if _, err := c.Act(t.Context(), "rack-a", n, host.DeleteNode{}); err == nil || errors.As(err, &away) ||
			!strings.Contains(err.Error(), want) || len(c.reach.groups) > 0 {
			t.Errorf("a failure arrives as %v, expected %s", err, want)
		}
		l.panics = true
	}
	c = wired(Server("/cluster/", func(http.ResponseWriter, *http.Request, string) ([]byte, error) {
		return nil, errors.New("late")
	}, l))
	if _, err := c.Act(t.Context(), "rack-a", n, host.DeleteNode{}); !errors.As(err, &away) ||
		!strings.Contains(err.Error(), "late") {
		t.Errorf("a late call: %v", err)
	}
	c = wired(nil)
	c.Call = func(context.Context, string, string, []byte) ([]byte, error) {
		return nil, &http.MaxBytesError{Limit: 1}
	}
	if _, err := c.Act(t.Context(), "rack-a", n, host.DeleteNode{}); err == nil || errors.As(err, &away) {
		t.Errorf("an order that is too large: %v", err)
	}
}

// TestCountNodes: nodes of groups without a leader are not at work, except in a group that has just lost its leader.
func TestCountNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := wired(nil)
		c.Cluster = groups{"rack-a": true, "rack-b": false}
		c.reach.cluster = c.Cluster
		for _, want := range []int{2, 1} {
			if count, err := c.CountNodes(t.Context(), nil); count != want || err != nil {
				t.Errorf("counted those of %d groups, %v, want %d", count, err, want)
			}
			time.Sleep(patience)
		}
	})
}
