package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// linkOf is where a port is plugged in, as scripts show it.
func linkOf(t *testing.T, p node.Port) string {
	if len(p.LocalLinkConnection) == 0 {
		return ""
	}
	raw, err := json.Marshal(p.LocalLinkConnection)
	if err != nil {
		t.Fatal(err)
	}
	return " link=" + string(raw)
}

// sayHeard prints the LLDP data of the switches.
func (s *scene) sayHeard(plugin json.RawMessage) {
	var data struct {
		Parsed json.RawMessage `json:"parsed_lldp"`
	}
	if err := json.Unmarshal(plugin, &data); err != nil {
		s.t.Fatal(err)
	}
	if data.Parsed != nil {
		s.say("switches %s", data.Parsed)
	}
}

func TestWhatIsKeptBesideTheInventory(t *testing.T) {
	raw := `{"inventory":{"interfaces":[{"name":"e0","mac_address":"52:54:00:00:00:01"}]},"logs":"H4sI","error":null,
		"dmi":{"bios":{"Vendor":"X"}},"usb_devices":[{"product":"p","vendor":"v","handle":"USB:1:2"}],"macs":["forged"],
		"parsed_lldp":"forged","extension":{"of":"somebody"},"numa_topology":{"ram":[{"numa_node":0,"size_kb":5}]}}`
	data := inspection(t, raw)
	var kept map[string]any
	if err := json.Unmarshal(beside(json.RawMessage(raw), pluginDataOf(data), readSwitchData(data)), &kept); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"dmi": "map[bios:map[Vendor:X]]", "extension": "map[of:somebody]",
		"numa_topology": "map[ram:[map[numa_node:0 size_kb:5]]]",
		"usb_devices":   "[map[handle:USB:1:2 product:p vendor:v]]", "macs": "[]", "error": "<nil>",
	} {
		if diff := cmp.Diff(want, fmt.Sprint(kept[key])); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	for _, key := range []string{"inventory", "logs", "parsed_lldp"} {
		if _, there := kept[key]; there {
			t.Errorf("%s is kept", key)
		}
	}
}

func TestListenIsBounded(t *testing.T) {
	var list []string
	for i := range 100 {
		list = append(list, fmt.Sprintf(`{"name":"e%d","mac_address":"52:54:00:00:00:%02x","lldp":[[5,"6c656166"]]}`, i, i))
	}
	h := readSwitchData(inspection(t, `{"inventory":{"interfaces":[`+strings.Join(slices.Clip(list), ",")+`]}}`))
	if len(h.neighbors) != maxNeighbors || h.neighbors["e0"]["switch_system_name"] != "leaf" {
		t.Errorf("%d interfaces, the first: %v", len(h.neighbors), h.neighbors["e0"])
	}
}
