package plan

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
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
