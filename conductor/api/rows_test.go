package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// bodies has the required properties of verbs, by target.
func bodies() map[string]string {
	return map[string]string{
		"clean":   `,"clean_steps":[{"interface":"bios","step":"factory_reset"}]`,
		"service": `,"service_steps":[{"interface":"bios","step":"factory_reset"}]`,
		"rescue":  `,"rescue_password":"x"`,
	}
}

// targets is the verbs by the name an operator asks with.
func targets() map[string]node.Event {
	return map[string]node.Event{
		"manage": node.Manage, "provide": node.Provide, "clean": node.Clean, "inspect": node.Inspect, "adopt": node.Adopt,
		"active": node.Deploy, "deploy": node.Deploy, "deleted": node.Delete, "undeploy": node.Delete,
		"rebuild": node.Rebuild,
		"rescue":  node.RescueIt, "unrescue": node.Unrescue, "service": node.Service, "abort": node.Abort,
		"unhold": node.Unhold,
	}
}

// TestEveryVerbInEveryState asks for each verb in each of the thirty states:
// the rows of the table are taken, anything else is refused and changes
// nothing.
func TestEveryVerbInEveryState(t *testing.T) {
	store := mem.New()
	c := &conductor{t: t, Conductor: apitest.Start(t, store, nil)}
	taken := 0
	for state := range node.States {
		for target, verb := range targets() {
			name := fmt.Sprintf("%s in %s", target, state)
			id := place(t, c, store, state)
			body := fmt.Sprintf(`{"target":%q%s}`, target, bodies()[target])
			got := c.do(nodeapi.MaxMinor, http.MethodPut, "/v1/nodes/"+id+"/states/provision", body)
			n, err := c.Engine.Node(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			want := http.StatusBadRequest
			if node.Requestable(state, verb) {
				want = http.StatusAccepted
				taken++
			}
			if moved := n.ProvisionUpdatedAt != nil; got.status != want || moved != (want == http.StatusAccepted) {
				t.Errorf("%s: status %d, expected %d, and the node has moved: %v; %s", name, got.status, want, moved, got.body)
			}
		}
	}
	if taken != 49+aliases {
		t.Errorf("%d verbs were taken, expected the 49 rows of requests and %d by another name", taken, aliases)
	}
}

// aliases is how many rows deploy and undeploy take again: the ones of active
// and deleted.
const aliases = 2 + 10

// place stores a node in a state. In a wait state it has a run that waits.
func place(t *testing.T, c *conductor, store *mem.Store, state node.State) string {
	t.Helper()
	n := node.Node{
		Driver: "redfish", DriverInfo: map[string]any{"redfish_address": "http://127.0.0.1:9"}, SharesMachine: true,
		Interfaces:   map[string]string{"deploy": "direct", "inspect": "agent", "rescue": "agent", "bios": "redfish"},
		InstanceInfo: map[string]any{"image_source": "http://images/os.raw", "image_checksum": strings.Repeat("0", 64)},
	}
	if state == node.Error {
		n.InstanceUUID = uuid.NewString() // of the instance that may be rebuilt
	}
	n, err := c.Engine.CreateNode(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	n.ProvisionState, n.TargetProvisionState = state, node.States[state].Target
	activity := map[node.State]string{
		node.InspectWait: "inspect", node.CleanWait: "clean", node.CleanHold: "clean", node.DeployWait: "deploy",
		node.DeployHold:  "deploy",
		node.ServiceWait: "service", node.ServiceHold: "service", node.RescueWait: "rescue",
	}[state]
	if activity != "" {
		first := node.Step{Interface: "agent", Step: "wait_for_heartbeat"}
		if state.Class() == node.Held {
			first = node.Step{Interface: "deploy", Step: "hold"}
		}
		n.Run = &node.Run{Activity: activity, Steps: []node.Step{first, {Interface: "power", Step: "power_on"}},
			Since: time.Now(), Generation: 1}
	}
	if _, err := store.Commit(t.Context(), node.Change{Save: &n}); err != nil {
		t.Fatal(err)
	}
	return n.UUID
}
