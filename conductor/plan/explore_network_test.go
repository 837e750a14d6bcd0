package plan

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// port is the machine's, with a VIF.
func (w world) port() node.Port {
	p := node.Port{UUID: "p1", NodeUUID: w.n.UUID, Address: "52:54:00:00:00:01", PXEEnabled: true,
		LocalLinkConnection: map[string]any{"port_id": "e1"}, InternalInfo: map[string]any{}}
	if w.network != "" {
		for network := range strings.FieldsSeq(w.network) {
			p.InternalInfo[ramdiskPort(network)] = "n1"
		}
	}
	p.SetVIF("v1")
	return p
}

// inNetwork is the networks of ramdisks that a port says it is in, or may be in.
func inNetwork(p node.Port) string {
	return strings.Join(slices.DeleteFunc(RamdiskNetworks(), func(network string) bool {
		return p.InternalInfo[ramdiskPort(network)] == nil
	}), " ")
}

// moves reports whether the pending effect is to put the machine into the network of a ramdisk, and whether it
// takes it out of all of them.
func (w world) moves() (enters, leaves bool) {
	switch w.pending.Name {
	case leaveEffect, returnEffect:
		return false, true
	case attachNetwork:
		var a NetworkArgs
		if json.Unmarshal(w.pending.Args, &a) == nil {
			enters = slices.Contains(RamdiskNetworks(), a.Network)
			return enters, !enters
		}
	}
	return false, false
}

// startsSystem reports whether the pending effect starts the system on the machine's disk.
func (w world) startsSystem() bool {
	switch w.pending.Name {
	case "power.power_on", "power.reboot":
		return !WantsRamdisk(w.n)
	case changePower:
		var a PowerArgs
		return json.Unmarshal(w.pending.Args, &a) == nil && powerAfter[a.Target] == node.PowerOn && w.n.Run == nil
	}
	return false
}
