package remote

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/reconciler"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Call posts a body to a path of the leader of a group. Where the leader is there, and does not take it, the error is
// an *UnservedError.
type Call func(ctx context.Context, group, path string, body []byte) (answer []byte, err error)

// Config has the dependencies of a Caller.
type Config struct {
	Call    Call
	Cluster Cluster
	// Count is how many nodes of some groups are in one of some states.
	Count    func(ctx context.Context, groups []string, in map[node.State]bool) (int, error)
	Patience node.Patience // with BMCs, of nodes that have none of their own
	Log      *slog.Logger
}

// Caller is the conductor groups of a cluster, for the reconciler of the leader of the default group.
type Caller struct {
	Config
	reach *reach
}

var _ reconciler.Groups = (*Caller)(nil)

// NewCaller makes a caller.
func NewCaller(c Config) *Caller {
	return &Caller{Config: c, reach: newReach(c.Cluster, c.Log)}
}

// Act has the leader of a group do one thing to a node.
func (c *Caller) Act(ctx context.Context, group string, n node.Node, a host.Action) (string, error) {
	o, err := orderOf(n, a)
	if err != nil {
		return "", err
	}
	is, err := c.ask(ctx, group, actPath, o, answeredWithin(a))
	return is.Node, err
}

// MediaSlots has the leader of a group ask a BMC for its virtual drives.
func (c *Caller) MediaSlots(ctx context.Context, group string, n node.Node) ([]node.MediaSlot, error) {
	p, err := n.Patience(c.Patience)
	if err != nil {
		p = c.Patience // its leader refuses it
	}
	is, err := c.ask(ctx, group, mediaPath, order{Node: n.UUID}, p.Call+actTime)
	return is.Slots, err
}

// UnservedError is why a call was not carried out although its leader is not silent: it answered that it does not serve
// (yet), or another one leads the group since.
type UnservedError struct{ Err error }

func (e *UnservedError) Error() string { return e.Err.Error() }

// Unwrap is the error of the call.
func (e *UnservedError) Unwrap() error { return e.Err }

// ask sends an order, and waits for the answer no longer than a limit. Where the leader has just not answered, only a
// probe is sent. All that keeps an order from being answered passes.
func (c *Caller) ask(ctx context.Context, group, path string, o order, limit time.Duration) (is answer, err error) {
	body, err := json.Marshal(o)
	if err != nil {
		return is, err
	}
	end, err := c.reach.begin(group)
	if err != nil {
		return is, &reconciler.AwayError{Group: group, Err: err}
	}
	defer end()
	began := time.Now()
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	text, err := c.Call(within, group, path, body)
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return is, err
	}
	if err == nil {
		err = json.Unmarshal(text, &is)
	}
	if err != nil {
		if ctx.Err() == nil {
			c.reach.failed(group, began, err)
		}
		return is, &reconciler.AwayError{Group: group, Err: err}
	}
	c.reach.answered(group)
	switch {
	case is.Refused != nil:
		err = is.Refused.err()
	case is.Failed != "":
		err = errors.New(is.Failed)
	}
	return is, err
}

// Led reports whether a conductor leads a group at the moment.
func (c *Caller) Led(group string) bool { return c.Cluster.Led(group) }

// Silent reports whether the leader of a group has just not answered.
func (c *Caller) Silent(group string) bool { return c.reach.silent(group) }

// Away is the reason why the nodes of a group cannot be acted on.
func (c *Caller) Away(group string) string { return c.reach.away(group) }

// CountNodes is the number of nodes of other groups that are in one of some states. Groups without a leader do not
// count: their work stands still, and their nodes would be busy for ever.
func (c *Caller) CountNodes(ctx context.Context, in map[node.State]bool) (int, error) {
	var groups []string
	for _, group := range c.Cluster.Groups() {
		if c.reach.goesOn(group) {
			groups = append(groups, group)
		}
	}
	if len(groups) == 0 {
		return 0, nil
	}
	return c.Count(ctx, groups, in)
}

// Watch calls changed with each group when its leader is found, or is missing for longer than a takeover takes. It ends
// with ctx.
func (c *Caller) Watch(ctx context.Context, changed func(group string)) { c.reach.watch(ctx, changed) }
