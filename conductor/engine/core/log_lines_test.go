package core_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// line is a line of the log about a change of state.
type line struct {
	Level, Msg, Node, From, On, To, Why, User, Reason string
}

// lines is a log that tests read.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// TestLineOfEachDecision: each change of state is one line with from, to, why, the user, and the failed part.
func TestLineOfEachDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		log := &lines{}
		w.Log = slog.New(slog.NewJSONHandler(log, nil))
		w.Start()
		n := w.Create("redfish")
		w.Ask(n.UUID, node.Manage, node.Manageable)
		w.Ask(n.UUID, node.Provide, node.Available)
		w.Mu.Lock()
		w.Broken[n.UUID] = true
		w.Mu.Unlock()
		w.Must(w.E.Provision(core.WithUser(w.Ctx, "ada", "engines"), n.UUID, plan.Request{Verb: node.Deploy}))
		n = w.Settled(n.UUID)
		w.Close()
		var seen []line
		state := node.Enroll
		for d := json.NewDecoder(&log.b); d.More(); {
			var l line
			if err := d.Decode(&l); err != nil {
				t.Fatal(err)
			}
			if l.Msg != "state" {
				continue
			}
			seen = append(seen, l)
			row := node.Row(node.State(l.From), node.Event(l.On))
			if l.Level != "INFO" || l.Node != n.UUID || row == nil || string(row.To) != l.To || row.Why != l.Why ||
				node.State(l.From) != state {
				t.Errorf("the line %+v follows state %q", l, state)
			}
			state = node.State(l.To)
		}
		if len(seen) < 6 || state != n.ProvisionState {
			t.Fatalf("%d lines, the last to %q; the node is %q", len(seen), state, n.ProvisionState)
		}
		last, asked := seen[len(seen)-1], seen[len(seen)-2]
		if last.Reason != n.LastError || n.LastError == "" || last.User != "" || asked.User != "ada" || asked.Reason != "" {
			t.Errorf("the last lines are %+v and %+v", asked, last)
		}
	})
}
