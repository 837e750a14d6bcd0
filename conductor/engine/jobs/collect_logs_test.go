package jobs_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestLogsAreCollected: the agent of a failed run is asked for its logs if it sent none. The result is in the history,
// not in last_error.
func TestLogsAreCollected(t *testing.T) {
	for name, c := range map[string]struct {
		told, never, logless bool
		collected            int
		history              string // "" for nothing
	}{
		"an agent that tells nothing": {
			collected: 1, history: "the agent's logs were collected, and are the node's log of this boot: 1 files, 9 lines",
		},
		"one that cannot collect any": {logless: true, history: "the agent's logs could not be collected: no space left"},
		"one that tells its log":      {told: true},
		"not wanted":                  {never: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := enginetest.New(t, 1)
				logs := &enginetest.Shelf{Sent: c.told}
				w.Logs, w.Logless, w.Settings.CollectLogs = logs, c.logless, !c.never
				w.Start()
				defer w.Close()
				id := w.Ask(w.Create("redfish").UUID, node.Manage, node.Manageable).UUID
				steps := []node.Step{{Interface: "deploy", Step: "erase_devices"}} // which fails
				if err := w.E.Provision(w.Ctx, id, plan.Request{Verb: node.Clean, CleanSteps: steps}); err != nil {
					t.Fatal(err)
				}
				n := w.Settled(id)
				if n.ProvisionState != node.CleanFailed || !strings.Contains(n.LastError, "sda is frozen") || n.Chore != "" {
					t.Errorf("%s, chore %q: %s", n.ProvisionState, n.Chore, n.LastError)
				}
				if len(logs.Collected) != c.collected {
					t.Errorf("collected was %q", logs.Collected)
				}
				history, err := w.E.History(w.Ctx, id)
				if err != nil {
					t.Fatal(err)
				}
				last := history[len(history)-1].Event
				if told := strings.Contains(last, "logs"); told != (c.history != "") || !strings.HasPrefix(last, c.history) {
					t.Errorf("the history ends with %q, want %q", last, c.history)
				}
			})
		})
	}
}

// TestInspectionLogsAreKept: a ramdisk that reports that it could not inspect its
// machine has sent its logs along.
func TestInspectionLogsAreKept(t *testing.T) {
	for _, failure := range []string{"", "no disks"} {
		synctest.Test(t, func(t *testing.T) {
			w := enginetest.New(t, 1)
			logs := &enginetest.Shelf{}
			w.Logs = logs
			w.Start()
			defer w.Close()
			id := w.Ask(w.Create("redfish").UUID, node.Manage, node.Manageable).UUID
			w.Mu.Lock()
			w.Machine(id).Boot++ // the test takes the place of w.run
			w.Mu.Unlock()
			if err := w.E.Provision(w.Ctx, id, plan.Request{Verb: node.Inspect}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
			data := agentapi.Inspection{Error: &failure, Logs: "packed", Inventory: agentapi.Inventory{
				Interfaces: []agentapi.Interface{{Name: "eth0", MACAddress: enginetest.MACOf(id), HasCarrier: true}},
			}}
			if _, err := w.E.ContinueInspection(w.Ctx, "", data, []byte(`{"inventory":{}}`),
				node.Caller{Word: w.Word(id)}); err != nil {
				t.Fatal(err)
			}
			w.Settled(id)
			if kept := len(logs.Collected) == 1; kept != (failure != "") {
				t.Errorf("error %q: collected was %q", failure, logs.Collected)
			}
		})
	}
}
