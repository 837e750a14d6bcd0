package redfish

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/lldp"
)

// lldpReceive is LLDPReceive of a Port: the announcement of the switch at the other end (since Port.v1_4_0).
type lldpReceive struct {
	ChassisID         string `json:"ChassisId"`
	ChassisIDSubtype  string `json:"ChassisIdSubtype"`
	PortID            string `json:"PortId"`
	PortIDSubtype     string `json:"PortIdSubtype"`
	SystemName        string
	SystemDescription string
	ManagementVlanID  int32 `json:"ManagementVlanId"` // 4095: none was announced
}

func (l lldpReceive) tlvs() []lldp.TLV {
	vlan := int(l.ManagementVlanID)
	if vlan >= 4095 {
		vlan = 0
	}
	return lldp.Stated{ChassisID: tidy(l.ChassisID), ChassisKind: l.ChassisIDSubtype, PortID: tidy(l.PortID),
		PortKind: l.PortIDSubtype, SystemName: tidy(l.SystemName), SystemDescription: tidy(l.SystemDescription),
		ManagementVLAN: vlan}.TLVs()
}

// readDellSwitches reads the switches of Dell's cards: iDRAC has them in a resource of its own, and not in the ports
// (Ironic, drac/inspect.py).
func (p *parts) readDellSwitches() {
	bare := slices.ContainsFunc(p.out.Cards, func(c node.Card) bool { return c.Switch == nil })
	if !bare || !strings.Contains(p.links.Manufacturer, "Dell") {
		return
	}
	var all struct {
		Members []struct {
			FQDD                   string
			SwitchConnectionID     string
			SwitchPortConnectionID string
		}
	}
	_, err := p.get(strings.TrimRight(*p.system, "/")+"/NetworkPorts/Oem/Dell/DellSwitchConnections", &all)
	if err != nil {
		if status(err) != http.StatusNotFound { // older firmware
			p.missed("switches", err)
		}
		return
	}
	for _, m := range all.Members[:min(len(all.Members), maxParts)] {
		i := slices.IndexFunc(p.out.Cards, func(c node.Card) bool { return c.Name == tidy(m.FQDD) })
		if i >= 0 && p.out.Cards[i].Switch == nil {
			stated := lldp.Stated{ChassisID: tidy(m.SwitchConnectionID), PortID: tidy(m.SwitchPortConnectionID)}
			p.out.Cards[i].Switch = stated.TLVs()
		}
	}
}
