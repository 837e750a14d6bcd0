package plan

import (
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// collectLogs asks the agent of a failed run for its logs, if it has sent none by itself: ironic-python-agent does not.
// It is Ironic's [agent] deploy_logs_collect, with the same default on_failure. The result is in the history;
// last_error stays the run's.
type collectLogs struct{ plain }

func (collectLogs) effect() string  { return "agent.collect_logs" }
func (collectLogs) failure() string { return "Collecting the agent's logs failed" }

// collectAfter enqueues that, if the run that was just decided on has failed and left an
// agent that can be asked. A node with another pending effect is not kept waiting for it.
func (d *decision) collectAfter(before *node.Run, e Event) {
	failed := slices.ContainsFunc(d.moves, func(m node.Transition) bool { return m.On == node.Fail })
	_, settles := e.(Outcome)
	if before == nil || !failed || !d.f.LogsMissing || d.n.Agent.URL == "" || len(d.effects) > 0 ||
		d.f.EffectPending && !settles {
		return
	}
	d.beginChore(collectLogs{})
}
