package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// notOurs are rows that Ironic's conductor takes and ours has no occasion for:
// a held or failed service is left by requests alone.
var notOurs = map[node.State]map[node.Event]bool{
	node.ServiceHold:   {node.Fail: true},
	node.ServiceFailed: {node.Wait: true, node.Hold: true},
}

// TestEveryRow takes nodes along every row of the table: the operators' rows by request and the others by events of the
// machine.
func TestEveryRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.drive = func(bmc core.BMC) core.BMC { return taciturn{bmc, w} }
		w.settings.BootRetries = 0 // a silent machine fails at once
		w.start()
		for name, walk := range rowWalks {
			n := w.create("redfish")
			r := &walker{w, name, n.UUID}
			_, err := w.e.UpdateNode(w.ctx, n.UUID, func(n *node.Node) error {
				n.Interfaces["rescue"] = "agent"
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			walk(r)
		}
		w.close()
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, row := range node.Table {
			if taken := w.taken[row]; taken == notOurs[row.From][row.On] {
				t.Errorf("row %s --%s--> %s: taken %v", row.From, row.On, row.To, taken)
			}
		}
	})
}

// taciturn is a BMC with steps and without reports: an inspection that ends while its machine is waited for has nothing
// to ask it.
type taciturn struct {
	core.BMC
	core.Stepper
}

// walker leads one node along.
type walker struct {
	*world
	name string
	id   string
}

// begin asks for a verb and waits for a state on the way.
func (r *walker) begin(verb node.Event, via node.State) {
	r.t.Helper()
	r.request(plan.Request{Verb: verb}, via)
}

func (r *walker) request(q plan.Request, via node.State) {
	r.t.Helper()
	if err := r.e.Provision(r.ctx, r.id, q); err != nil {
		r.t.Fatalf("%s: %s: %v", r.name, q.Verb, err)
	}
	r.until(via)
}

// until waits for a state, for an hour of the world's time.
func (r *walker) until(want node.State) {
	r.t.Helper()
	var n node.Node
	for range 3600 {
		var err error
		if n, err = r.e.Node(r.ctx, r.id); err != nil {
			r.t.Fatal(err)
		}
		pending, err := r.store.PendingEffect(r.ctx, r.id)
		if err != nil {
			r.t.Fatal(err)
		}
		if n.ProvisionState == want && (pending == nil || want.Class() == node.Waiting) {
			return
		}
		time.Sleep(time.Second)
	}
	r.t.Fatalf("%s: node is %q, expected %q: %s", r.name, n.ProvisionState, want, n.LastError)
}

func (r *walker) breakBMC(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken[r.id] = on
}

func (r *walker) silence(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mute[r.id] = on
}

func (r *walker) manageable() { r.begin(node.Manage, node.Manageable) }

// active adopts the machine with the workload it runs.
func (r *walker) active() {
	r.manageable()
	r.mu.Lock()
	r.of(r.id).tenant = "0"
	r.mu.Unlock()
	r.begin(node.Adopt, node.Active)
}

func clean(names ...string) plan.Request {
	return plan.Request{Verb: node.Clean, CleanSteps: steps(names...)}
}

func deploying(names ...string) plan.Request {
	return plan.Request{Verb: node.Deploy, DeploySteps: steps(names...)}
}
