package plan

import (
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/placeholder"
)

// newAddresses returns the MAC addresses of network interfaces that may become ports.
func newAddresses(all []agentapi.Interface) (macs []string) {
	for _, i := range all {
		if mac, ok := ethernet(i.MACAddress); ok {
			macs = append(macs, mac)
		}
	}
	return macs
}

// ethernet writes a MAC address as ports have it; other hardware's addresses
// (InfiniBand's) are longer, and nothing boots from them. Zeros and groups are no machine's.
func ethernet(s string) (mac string, ok bool) {
	mac = placeholder.MAC(s)
	return mac, mac != ""
}
