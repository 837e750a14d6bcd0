package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestTearDownForgets: whether the machine could be switched off or not, its
// instance is over, with its allocation and its VIFs.
func TestTearDownForgets(t *testing.T) {
	const uuid = "11111111-2222-4333-8444-555555555555"
	vif := map[string]any{"tenant_vif_port_id": "v"}
	ports := []node.Port{
		{UUID: "p1", NodeUUID: uuid, InternalInfo: vif}, {UUID: "p2", NodeUUID: uuid, InternalInfo: map[string]any{"x": 1}},
	}
	bonds := []node.Portgroup{{Record: node.Record{UUID: "g1", Revision: 3}, NodeUUID: uuid, InternalInfo: vif}}
	now := time.Unix(1e9, 0)
	off := node.Effect{ID: 7, Node: uuid, Generation: 4, Name: "power.power_off"}
	for _, c := range []struct {
		name, network, failure string
		state                  node.State
		detached               bool
	}{
		{"the BMC refuses", "flat", "refused", node.Error, true},
		{"all is well", "flat", "", node.Cleaning, true},
		{"a network that knows no VIFs", "noop", "refused", node.Error, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := node.Node{
				UUID: uuid, Revision: 9, Driver: "redfish", ProvisionState: node.Deleting, TargetProvisionState: node.Available,
				Interfaces:   map[string]string{"deploy": "direct", "network": c.network},
				InstanceUUID: "i", InstanceName: "vm", InstanceInfo: map[string]any{"image_source": "x"}, AllocationUUID: "a",
				DriverInternalInfo: map[string]any{rootUUID: "r"},
				Run: &node.Run{Activity: "delete", Steps: []node.Step{step("power", "power_off", nil)},
					Generation: 4},
			}
			e := Outcome{Effect: off, Failure: c.failure}
			if e.Needs(n).Bonds != c.detached {
				t.Errorf("it needs the portgroups: %v, want %v", !c.detached, c.detached)
			}
			change, err := Decide(n, Facts{Ports: ports, Bonds: bonds, Settings: DefaultSettings()}, e, now)
			if err != nil {
				t.Fatal(err)
			}
			is := change.Save
			if is.ProvisionState != c.state || is.InstanceUUID+is.InstanceName+is.AllocationUUID != "" ||
				is.InstanceInfo != nil || is.DriverInternalInfo[rootUUID] != nil {
				t.Errorf("the node is %s with instance %q %q %v of allocation %q", is.ProvisionState, is.InstanceUUID,
					is.InstanceName, is.InstanceInfo, is.AllocationUUID)
			}
			if change.DropAllocation != "a" {
				t.Errorf("allocation %q is dropped, want a", change.DropAllocation)
			}
			var savedPorts []node.Port
			var savedBonds []node.Portgroup
			if c.detached {
				savedPorts = []node.Port{{UUID: "p1", NodeUUID: uuid, InternalInfo: map[string]any{}, UpdatedAt: &now}}
				savedBonds = []node.Portgroup{{Record: node.Record{UUID: "g1", Revision: 3, UpdatedAt: &now}, NodeUUID: uuid,
					InternalInfo: map[string]any{}}}
			}
			if d := cmp.Diff(savedPorts, change.SavePorts); d != "" {
				t.Errorf("ports (-want +got):\n%s", d)
			}
			if d := cmp.Diff(savedBonds, change.SavePortgroups); d != "" {
				t.Errorf("portgroups (-want +got):\n%s", d)
			}
		})
	}
}
