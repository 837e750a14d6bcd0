package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/lldp"
)

// maxNeighbors is how many interfaces are looked at, as in Ironic.
const maxNeighbors = 64

// switches holds the LLDP data of the switches, by the name of the interface.
type switches struct {
	neighbors map[string]lldp.Neighbor
	links     map[string]map[string]string // by MAC address, in the form of local_link_connection
	problems  []error
}

// readSwitchData reads the LLDP data of an inspection. They are a part of their own (collector lldp) or, from
// ironic-python-agent's older ipa-collect-lldp, a part of each interface.
func readSwitchData(data agentapi.Inspection) switches {
	h := switches{neighbors: map[string]lldp.Neighbor{}, links: map[string]map[string]string{}}
	for _, i := range data.Inventory.Interfaces[:min(len(data.Inventory.Interfaces), maxNeighbors)] {
		list := data.LLDPRaw[i.Name]
		if len(list) == 0 {
			list = i.LLDP
		}
		tlvs, bad := lldp.FromWire(list)
		n, unread := lldp.Read(tlvs)
		for _, err := range slices.Concat(bad, unread) {
			h.problems = append(h.problems, fmt.Errorf("interface %s: %w", i.Name, err))
		}
		if len(n) > 0 {
			h.neighbors[i.Name] = n
		}
		if mac, ok := ethernet(i.MACAddress); ok {
			h.links[mac] = lldp.Link(tlvs)
		}
	}
	return h
}

// link sets the switch ports of the ports, as Ironic's hook local-link-connection does: known values of a port stay.
func (d *decision) link(ports []node.Port, h switches) {
	for i, p := range ports {
		link := maps.Clone(p.LocalLinkConnection)
		for key, value := range h.links[p.Address] {
			if _, known := link[key]; known {
				continue
			}
			if link == nil {
				link = map[string]any{}
			}
			link[key] = value
		}
		ports[i].LocalLinkConnection = link
	}
	d.takePorts(ports)
	if len(h.problems) > 0 {
		d.note("WARNING", fmt.Sprintf("LLDP: %d statements were left out, the first: %v", len(h.problems), h.problems[0]))
	}
}

// beside returns the data to store beside the inventory, in Ironic's plugin_data: all data of the ramdisk but the
// inventory and its logs, the values made from them, and the LLDP data.
func beside(raw, made json.RawMessage, h switches) json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, part := range []json.RawMessage{raw, made} { // the latter counts
		if part == nil { // a BMC's report has no data of a ramdisk
			continue
		}
		if err := json.Unmarshal(part, &all); err != nil {
			return made
		}
	}
	delete(all, "inventory")
	delete(all, "logs")
	delete(all, "parsed_lldp") // ours to say
	if len(h.neighbors) > 0 {
		parsed, err := json.Marshal(h.neighbors)
		if err != nil {
			return made
		}
		all["parsed_lldp"] = parsed
	}
	out, err := json.Marshal(all)
	if err != nil {
		return made
	}
	return out
}
