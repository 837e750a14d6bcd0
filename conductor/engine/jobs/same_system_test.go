package jobs_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// namers are BMCs that report the UUID of the machine at their address.
type namers struct {
	*enginetest.World
	systems map[string]string
}

func (b *namers) SystemUUID(_ context.Context, n node.Node) (string, error) {
	address, _ := n.DriverInfo["redfish_address"].(string)
	return b.systems[address], nil
}

// TestOneSystemAtTwoAddresses: if two nodes name one machine by two addresses, the first to be verified has it. The
// other stays in enroll with the reason, until it is forced or names another machine. If both are verified at a time,
// only one gets it.
func TestOneSystemAtTwoAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		b := &namers{w, map[string]string{
			"https://10.0.0.1": enginetest.SystemA, "https://bmc-1": strings.ToUpper(enginetest.SystemA),
			"https://10.0.0.2": enginetest.SystemB, "https://10.0.0.3": "03000200-0400-0500-0006-000700080009",
			"https://10.0.0.4": "03000200-0400-0500-0006-000700080009"}}
		w.Drive = func(core.BMC) core.BMC { return b }
		w.Start()
		defer w.Close()
		at := func(address string) node.Node {
			n, err := w.E.CreateNode(w.Ctx, node.Node{Driver: "redfish", DriverInfo: map[string]any{"redfish_address": address}})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		first, second := at("https://10.0.0.1"), at("https://bmc-1")
		first = w.Ask(first.UUID, node.Manage, node.Manageable)
		if first.DriverInternalInfo["system_uuid"] != enginetest.SystemA {
			t.Errorf("the first node keeps %v", first.DriverInternalInfo)
		}
		second = w.Ask(second.UUID, node.Manage, node.Enroll)
		if !strings.Contains(second.LastError, "is that of node "+first.UUID+" too") ||
			second.DriverInternalInfo["system_uuid"] != nil {
			t.Errorf("the second node: %q %v", second.LastError, second.DriverInternalInfo)
		}
		edit := func(uuid string, change func(n *node.Node)) {
			if _, err := w.E.UpdateNode(w.Ctx, uuid, func(n *node.Node) error { change(n); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		edit(second.UUID, func(n *node.Node) { n.SharesMachine = true })
		w.Ask(second.UUID, node.Manage, node.Manageable)
		edit(second.UUID, func(n *node.Node) {
			n.SharesMachine, n.DriverInfo = false, map[string]any{"redfish_address": "https://10.0.0.2"}
		})
		second, err := w.E.Node(w.Ctx, second.UUID)
		if err != nil || second.DriverInternalInfo["system_uuid"] != nil {
			t.Errorf("at another address it keeps the UUID: %v %v", second.DriverInternalInfo, err)
		}
		for _, address := range []string{"https://10.0.0.3", "https://10.0.0.4"} { // boards without a UUID of their own
			w.Ask(at(address).UUID, node.Manage, node.Manageable)
		}
		edit(first.UUID, func(n *node.Node) { n.DriverInfo = map[string]any{"redfish_address": "https://10.0.0.9"} })
		raceVerify(t, w, at("https://10.0.0.1").UUID, at("https://bmc-1").UUID)
	})
}

// raceVerify verifies two nodes of one machine at a time.
func raceVerify(t *testing.T, w *enginetest.World, uuids ...string) {
	t.Helper()
	var all sync.WaitGroup
	for _, uuid := range uuids {
		all.Go(func() {
			if err := w.E.Provision(w.Ctx, uuid, plan.Request{Verb: node.Manage}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	time.Sleep(time.Minute)
	states := map[node.State]int{}
	for _, uuid := range uuids {
		n, err := w.E.Node(w.Ctx, uuid)
		if err != nil {
			t.Fatal(err)
		}
		states[n.ProvisionState]++
	}
	if states[node.Manageable] != 1 || states[node.Enroll] != 1 {
		t.Errorf("of two nodes of one machine: %v", states)
	}
}
