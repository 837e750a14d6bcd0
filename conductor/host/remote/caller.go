package remote

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/ferrite-metal/ferrite/conductor/host"
	"github.com/ferrite-metal/ferrite/conductor/host/reconciler"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Call posts a body to a path of the leader of a group.
type Call func(ctx context.Context, group, path string, body []byte) (answer []byte, err error)

// Config is what a caller is made of.
type Config struct {
	Call Call
	Room Room
	// Count is how many nodes of other groups than the default one are in one of some states.
	Count func(ctx context.Context, in map[node.State]bool) (int, error)
	Log   *slog.Logger
}

// Caller is the conductor groups of a cluster, for the reconciler of the leader of the default group.
type Caller struct {
	Config
	reach reach
}

var _ reconciler.Groups = (*Caller)(nil)

// NewCaller makes a caller.
func NewCaller(c Config) *Caller {
	return &Caller{Config: c, reach: reach{room: c.Room, log: c.Log, groups: map[string]*trouble{}}}
}

// Act has the leader of a group do one thing to a node.
func (c *Caller) Act(ctx context.Context, group string, n node.Node, a host.Action) (string, error) {
	o, err := orderOf(n, a)
	if err != nil {
		return "", err
	}
	is, err := c.ask(ctx, group, actPath, o)
	return is.Node, err
}

// MediaSlots has the leader of a group ask a BMC for its virtual drives.
func (c *Caller) MediaSlots(ctx context.Context, group, uuid string) ([]node.MediaSlot, error) {
	is, err := c.ask(ctx, group, mediaPath, order{Node: uuid})
	return is.Slots, err
}

// ask sends an order. All that keeps it from being answered passes.
func (c *Caller) ask(ctx context.Context, group, path string, o order) (is answer, err error) {
	body, err := json.Marshal(o)
	if err != nil {
		return is, err
	}
	text, err := c.Call(ctx, group, path, body)
	if err == nil {
		err = json.Unmarshal(text, &is)
	}
	if err != nil {
		if ctx.Err() == nil {
			c.reach.failed(group, err)
		}
		return is, &reconciler.AwayError{Group: group, Err: err}
	}
	c.reach.answered(group)
	if is.Refused != nil {
		err = is.Refused.err()
	}
	return is, err
}

// Led reports whether a conductor leads a group at the moment.
func (c *Caller) Led(group string) bool { return c.Room.Led(group) }

// Away says why the nodes of a group cannot be acted on.
func (c *Caller) Away(group string) string { return c.reach.away(group) }

// CountNodes is how many nodes of other groups are in one of some states.
func (c *Caller) CountNodes(ctx context.Context, in map[node.State]bool) (int, error) {
	if len(c.Room.Groups()) == 0 {
		return 0, nil
	}
	return c.Count(ctx, in)
}

// Watch calls changed with each group whose leader was found, or missed for longer than a takeover takes, until ctx
// ends.
func (c *Caller) Watch(ctx context.Context, changed func(group string)) { c.reach.watch(ctx, changed) }
