package api

import (
	"math/bits"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// networkDataField checks the form: links, networks and services as OpenStack's
// metadata has them. What is wrong would show only on the machine, if at all.
func networkDataField() field[node.Node] {
	f := object("network_data", 66, both, nil, func(n *node.Node) *map[string]any { return &n.NetworkData })
	set := f.set
	f.set = func(n *node.Node, value any) error {
		if m, ok := value.(map[string]any); ok && len(m) > 0 {
			if wrong := networkData()(m); wrong != "" {
				return nodeapi.NewFault(http.StatusBadRequest, "Invalid network_data: %s", wrong)
			}
		}
		return set(n, value)
	}
	return f
}

func networkData() shape {
	return objectOf(
		property{"links", true, listOf(kindOf(linkKinds()))},
		property{"networks", true, listOf(kindOf(networkKinds()))},
		property{"services", true, listOf(eitherOf(serviceOf(address4), serviceOf(address6)))},
	)
}

func linkKinds() map[string]shape {
	link := func(more ...property) shape {
		return objectOf(append([]property{
			{"id", true, isText}, {"ethernet_mac_address", true, isMAC}, {"mtu", false, isMTU}, {"vif_id", false, isText},
		}, more...)...)
	}
	kinds := map[string]shape{
		"bond": link(
			property{"bond_mode", true, oneOf("802.3ad", "balance-rr", "active-backup", "balance-xor", "broadcast", "balance-tlb", "balance-alb")},
			property{"bond_links", true, listOf(isText)},
		),
		"vlan": objectOf(
			property{"id", true, isText}, property{"vlan_mac_address", true, isMAC}, property{"vlan_link", true, isText},
			property{"vlan_id", true, isWhole}, property{"mtu", false, isMTU}, property{"vif_id", false, isText},
		),
	}
	for _, kind := range []string{"bridge", "dvs", "hw_veb", "hyperv", "ovs", "tap", "vhostuser", "vif", "phy"} {
		kinds[kind] = link()
	}
	return kinds
}

func networkKinds() map[string]shape {
	network := func(address, netmask, net shape) shape {
		return objectOf(
			property{"id", true, isText}, property{"link", true, isText}, property{"network_id", true, isText},
			property{"ip_address", false, address}, property{"netmask", false, netmask},
			property{"routes", false, listOf(objectOf(
				property{"network", true, net}, property{"netmask", true, netmask}, property{"gateway", true, address},
				property{"services", false, listOf(serviceOf(address))},
			))},
		)
	}
	four, six := network(address4, netmask4, address4), network(address6, address6, address6)
	return map[string]shape{"ipv4": four, "ipv4_dhcp": four, "ipv6": six, "ipv6_dhcp": six, "ipv6_slaac": six}
}

func serviceOf(address shape) shape {
	return objectOf(property{"address", true, address}, property{"type", true, oneOf("dns")})
}

var macForm = regexp.MustCompile(`^(?i)([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$`)

func isMAC(v any) string {
	if s, ok := v.(string); ok && macForm.MatchString(s) {
		return ""
	}
	return python(v) + " is no MAC address"
}

func isMTU(v any) string {
	if n, ok := v.(float64); v == nil || ok && n >= 1 && n <= 65535 {
		return ""
	}
	return python(v) + " is no number from 1 to 65535"
}

func address4(v any) string {
	s, _ := v.(string)
	if a, err := netip.ParseAddr(s); err == nil && a.Is4() {
		return ""
	}
	return python(v) + " is no IPv4 address"
}

// address6 may bring the length of its prefix along.
func address6(v any) string {
	s, _ := v.(string)
	host, length, cut := strings.Cut(s, "/")
	a, err := netip.ParseAddr(host)
	n, wrong := strconv.Atoi(length)
	if err != nil || !a.Is6() || cut && (wrong != nil || n < 0 || n > 128) {
		return python(v) + " is no IPv6 address"
	}
	return ""
}

// netmask4 has its ones in front.
func netmask4(v any) string {
	s, _ := v.(string)
	if a, err := netip.ParseAddr(s); err == nil && a.Is4() {
		b := a.As4()
		mask := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
		if bits.LeadingZeros32(^mask)+bits.TrailingZeros32(mask) == 32 || mask == 0 {
			return ""
		}
	}
	return python(v) + " is no IPv4 network mask"
}
