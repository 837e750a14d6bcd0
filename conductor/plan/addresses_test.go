package plan

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/lldp"
)

// TestNewAddresses: the addresses of all the inventory's interfaces may become ports, in any of the BMC's lists.
// Placeholders may not.
func TestNewAddresses(t *testing.T) {
	s := node.System{MACs: []string{"52:54:00:cc:00:01", "n/a", "00:00:00:00:00:00", "52:54:00:cc:00:03"},
		Parts: node.Parts{Cards: []node.Card{{Name: "nic4", MAC: "52:54:00:cc:00:01"},
			{Name: "port 1", MAC: "52:54:00:cc:00:02"}}}}
	result, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"52:54:00:cc:00:01", "52:54:00:cc:00:02", "52:54:00:cc:00:03"}
	got := Outcome{Effect: node.Effect{Name: readSystem}, Result: result}.Needs(node.Node{}).Addresses
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	names := map[string]bool{}
	for _, i := range linked(cardsOf(s)) {
		if names[i.Name] || !i.HasCarrier {
			t.Errorf("%+v: a name that is there twice, or no port", i)
		}
		names[i.Name] = true
	}
}

// TestDisabledMemory: a module that the machine does without is listed, and counts for nothing.
func TestDisabledMemory(t *testing.T) {
	s := node.System{Parts: node.Parts{Memory: []node.MemoryModule{{Slot: "A1", MB: 16384},
		{Slot: "A2", MB: 16384, Disabled: true}}}}
	if got := (&decision{}).inspectionOf(s).Inventory.Memory.PhysicalMB; got != 16384 {
		t.Errorf("found %d MB, want those of A1", got)
	}
}

// TestSystemRead: the switches of a BMC's report reach the ports and the plugin data, as the switches of a ramdisk do.
func TestSystemRead(t *testing.T) {
	tlvs := lldp.Stated{ChassisID: "00:1c:73:aa:bb:cc", PortID: "Ethernet1/7"}.TLVs()
	d := &decision{n: node.Node{UUID: "n1"}}
	d.systemRead(node.System{UUID: "6aaf4df9-c601-5e47-a343-0856024bd9c3", Parts: node.Parts{
		Cards:       []node.Card{{Name: "nic1", MAC: "52:54:00:cc:00:01", Switch: tlvs}},
		Controllers: []agentapi.StorageController{{ID: "RAID.1"}}}})
	want := map[string]any{"switch_id": "00:1c:73:aa:bb:cc", "port_id": "Ethernet1/7"}
	if len(d.ports) != 1 {
		t.Fatalf("ports %+v", d.ports)
	}
	if diff := cmp.Diff(want, d.ports[0].LocalLinkConnection); diff != "" {
		t.Errorf("local_link_connection (-want +got):\n%s", diff)
	}
	var inventory struct {
		Vendor struct {
			UUID string `json:"system_uuid"`
		} `json:"system_vendor"`
		Controllers []struct{ ID string } `json:"storage_controllers"`
		Interfaces  []struct{ LLDP [][]any }
	}
	var plugin struct {
		Parsed map[string]lldp.Neighbor `json:"parsed_lldp"`
	}
	if err := errors.Join(json.Unmarshal(d.inspected.Inventory, &inventory),
		json.Unmarshal(d.inspected.PluginData, &plugin)); err != nil {
		t.Fatal(err)
	}
	if inventory.Vendor.UUID != "6aaf4df9-c601-5e47-a343-0856024bd9c3" || len(inventory.Controllers) != 1 ||
		len(inventory.Interfaces[0].LLDP) != 2 || plugin.Parsed["nic1"]["switch_port_id"] != "Ethernet1/7" {
		t.Errorf("%s, %s", d.inspected.Inventory, d.inspected.PluginData)
	}
}

// TestVendor: a BMC's vendor becomes a property, unless an operator has set one.
func TestVendor(t *testing.T) {
	for was, want := range map[any]any{nil: "Dell", "Acme": "Acme"} {
		d := &decision{n: node.Node{}}
		if was != nil {
			d.n.Properties = map[string]any{"vendor": was}
		}
		d.learnHardware(node.HardwareReport{Vendor: "Dell"})
		if d.n.Properties["vendor"] != want || d.dirty != (was == nil) || d.hardware != nil {
			t.Errorf("was %v: %v, changed %v, %+v", was, d.n.Properties, d.dirty, d.hardware)
		}
	}
}

// TestRefusedStep: a step that this conductor does not do is refused with the reason, and is in no list.
func TestRefusedStep(t *testing.T) {
	n := node.Node{UUID: "n1", Interfaces: map[string]string{"vendor": "ipmitool"}}
	offers := []node.StepOffer{{Interface: "vendor", Step: "send_raw", Refusal: "it is off",
		Priority: map[node.Framework]int{node.CleanSteps: 0}}}
	table := StepsOf(n, offers, nil, Settings{})
	err := checkStep(n, table, node.CleanSteps, node.Step{Interface: "vendor", Step: "send_raw"}, true)
	if err == nil || err.Error() != "Cannot clean node n1: step vendor.send_raw is refused: it is off" {
		t.Errorf("got %v", err)
	}
	if names := table.names(node.CleanSteps, true); slices.Contains(names, "vendor.send_raw") {
		t.Errorf("it is listed: %v", names)
	}
}
