package remote

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

const (
	gatherTime = 20 * time.Millisecond // for changes to be sent together
	tellAgain  = 500 * time.Millisecond
	tellTime   = 10 * time.Second
	mostTold   = 1000 // nodes at a time
)

// Notifier sends the changed nodes of a group to the leader of the default group. It forgets none until that leader has
// answered. A new leader needs no old changes: it looks at all hosts anyway.
type Notifier struct {
	group string
	call  Call
	log   *slog.Logger
	wake  chan struct{}

	mu      sync.Mutex
	all     bool
	changed map[string]node.State
}

// NewNotifier makes a notifier for a leader that has just begun: any node may have changed.
func NewNotifier(group string, call Call, log *slog.Logger) *Notifier {
	return &Notifier{group: group, call: call, log: log, wake: make(chan struct{}, 1), all: true,
		changed: map[string]node.State{}}
}

// NodeChanged records a change. It does not block.
func (t *Notifier) NodeChanged(n node.Node) {
	t.mu.Lock()
	t.changed[n.UUID] = n.ProvisionState
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Run sends changes until ctx ends.
func (t *Notifier) Run(ctx context.Context) {
	failing := false
	for {
		err := t.send(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			t.log.Info("the leader of the default group was not notified of changed nodes; tried again", "err", err)
		}
		wait := gatherTime
		if failing = err != nil; failing {
			wait = tellAgain
		} else if t.idle() {
			select {
			case <-t.wake:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

func (t *Notifier) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.all && len(t.changed) == 0
}

// send sends the changes, a part at a time.
func (t *Notifier) send(ctx context.Context) error {
	n := t.take()
	if !n.All && len(n.Nodes) == 0 {
		return nil
	}
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	if _, err = t.call(within, Default, changedPath+"?group="+url.QueryEscape(t.group), body); err != nil {
		t.putBack(n)
	}
	return err
}

func (t *Notifier) take() news {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := news{Group: t.group, All: t.all}
	t.all = false
	for uuid, state := range t.changed {
		if len(n.Nodes) == mostTold {
			break
		}
		n.Nodes = append(n.Nodes, changed{uuid, state})
		delete(t.changed, uuid)
	}
	return n
}

// putBack records unsent changes again, unless the node has changed since.
func (t *Notifier) putBack(n news) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = t.all || n.All
	for _, c := range n.Nodes {
		if _, since := t.changed[c.UUID]; !since {
			t.changed[c.UUID] = c.State
		}
	}
}
