package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
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
		w := enginetest.New(t, 1)
		w.Drive = func(bmc core.BMC) core.BMC { return taciturn{bmc, w} }
		w.Settings.BootRetries = 0 // a silent machine fails at once
		w.Start()
		for name, walk := range rowWalks {
			n := w.Create("redfish")
			r := &walker{w, name, n.UUID}
			_, err := w.E.UpdateNode(w.Ctx, n.UUID, func(n *node.Node) error {
				n.Interfaces["rescue"] = "agent"
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			walk(r)
		}
		w.Close()
		w.Mu.Lock()
		defer w.Mu.Unlock()
		for _, row := range node.Table {
			if taken := w.Taken[row]; taken == notOurs[row.From][row.On] {
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
	*enginetest.World
	name string
	id   string
}

// begin asks for a verb and waits for a state on the way.
func (r *walker) begin(verb node.Event, via node.State) {
	r.T.Helper()
	r.request(plan.Request{Verb: verb}, via)
}

func (r *walker) request(q plan.Request, via node.State) {
	r.T.Helper()
	if err := r.E.Provision(r.Ctx, r.id, q); err != nil {
		r.T.Fatalf("%s: %s: %v", r.name, q.Verb, err)
	}
	r.until(via)
}

// until waits for a state, for an hour of the world's time.
func (r *walker) until(want node.State) {
	r.T.Helper()
	var n node.Node
	for range 3600 {
		var err error
		if n, err = r.E.Node(r.Ctx, r.id); err != nil {
			r.T.Fatal(err)
		}
		pending, err := r.Store.PendingEffect(r.Ctx, r.id)
		if err != nil {
			r.T.Fatal(err)
		}
		if n.ProvisionState == want && (pending == nil || want.Class() == node.Waiting) {
			return
		}
		time.Sleep(time.Second)
	}
	r.T.Fatalf("%s: node is %q, expected %q: %s", r.name, n.ProvisionState, want, n.LastError)
}

func (r *walker) breakBMC(on bool) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Broken[r.id] = on
}

func (r *walker) silence(on bool) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Mute[r.id] = on
}

func (r *walker) manageable() { r.begin(node.Manage, node.Manageable) }

// active adopts the machine with the workload it runs.
func (r *walker) active() {
	r.manageable()
	r.Mu.Lock()
	r.Machine(r.id).Tenant = "0"
	r.Mu.Unlock()
	r.begin(node.Adopt, node.Active)
}

func clean(names ...string) plan.Request {
	return plan.Request{Verb: node.Clean, CleanSteps: enginetest.Steps(names...)}
}

func deploying(names ...string) plan.Request {
	return plan.Request{Verb: node.Deploy, DeploySteps: enginetest.Steps(names...)}
}
