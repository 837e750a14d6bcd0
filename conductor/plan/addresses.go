package plan

import (
	"encoding/json"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/placeholder"
)

// NewAddresses are the MAC addresses, as ports have them, that an event may
// make ports of. The engine looks up which of them other nodes have (Facts.Taken):
// the network card of a BMC has the same address in every machine of some
// vendors.
func NewAddresses(e Event) []string {
	var found, out []string
	switch e := e.(type) {
	case Inspected:
		for _, i := range e.Data.Inventory.Interfaces {
			found = append(found, i.MACAddress)
		}
	case Outcome:
		var s node.System
		if e.Effect.Name != "inspect.read_system" && e.Effect.Name != readPorts || json.Unmarshal(e.Result, &s) != nil {
			return nil // what cannot be read fails the run
		}
		for _, c := range cardsOf(s) {
			found = append(found, c.MACAddress)
		}
	}
	for _, mac := range found {
		if mac, ok := ethernet(mac); ok {
			out = append(out, mac)
		}
	}
	return out
}

// ethernet writes a MAC address as ports have it; other hardware's addresses
// (InfiniBand's) are longer, and nothing boots from them. Zeros and groups are no machine's.
func ethernet(s string) (mac string, ok bool) {
	mac = placeholder.MAC(s)
	return mac, mac != ""
}
