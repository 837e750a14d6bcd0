package api

import (
	"encoding/json"
	"math/bits"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/netconfig"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// checkNetworkData checks the form: links, networks and services as OpenStack's metadata has them. A fault would
// otherwise show only on the machine, if at all.
func checkNetworkData(_ *node.Node, value any) error {
	m, _ := value.(map[string]any)
	if len(m) == 0 {
		return nil
	}
	if wrong := networkData()(m); wrong != "" {
		return nodeapi.NewFault(http.StatusBadRequest, "Invalid network_data: %s", wrong)
	}
	if err := planned(m); err != nil {
		return nodeapi.NewFault(http.StatusBadRequest, "Invalid network_data: %s", err)
	}
	return nil
}

// planned checks that the ramdisk can do it.
func planned(data map[string]any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	_, err = netconfig.NetworkData(text)
	return err
}

func networkData() rest.Shape {
	return rest.ObjectOf(
		rest.Property{Name: "links", Required: true, Shape: rest.ListOf(rest.KindOf(linkKinds()))},
		rest.Property{Name: "networks", Required: true, Shape: rest.ListOf(rest.KindOf(networkKinds()))},
		rest.Property{
			Name: "services", Required: true, Shape: rest.ListOf(rest.Either(serviceOf(address4), serviceOf(address6))),
		},
	)
}

func linkKinds() map[string]rest.Shape {
	link := func(more ...rest.Property) rest.Shape {
		return rest.ObjectOf(append([]rest.Property{
			{Name: "id", Required: true, Shape: rest.IsText}, {Name: "ethernet_mac_address", Required: true, Shape: isMAC},
			{Name: "mtu", Required: false, Shape: isMTU}, {Name: "vif_id", Required: false, Shape: rest.IsText},
		}, more...)...)
	}
	kinds := map[string]rest.Shape{
		"bond": link(
			rest.Property{
				Name: "bond_mode", Required: true,
				Shape: rest.OneOf("802.3ad", "802.1ad", "balance-rr", "active-backup", "balance-xor",
					"broadcast", "balance-tlb", "balance-alb"),
			},
			rest.Property{Name: "bond_links", Required: true, Shape: rest.ListOf(rest.IsText)},
		),
		"vlan": rest.ObjectOf(
			rest.Property{Name: "id", Required: true, Shape: rest.IsText},
			rest.Property{Name: "vlan_mac_address", Required: true, Shape: isMAC},
			rest.Property{Name: "vlan_link", Required: true, Shape: rest.IsText},
			rest.Property{Name: "vlan_id", Required: true, Shape: rest.IsWhole},
			rest.Property{Name: "mtu", Required: false, Shape: isMTU},
			rest.Property{Name: "vif_id", Required: false, Shape: rest.IsText},
		),
	}
	for _, kind := range []string{"bridge", "dvs", "hw_veb", "hyperv", "ovs", "tap", "vhostuser", "vif", "phy"} {
		kinds[kind] = link()
	}
	return kinds
}

func networkKinds() map[string]rest.Shape {
	network := func(address, netmask, net rest.Shape) rest.Shape {
		return rest.ObjectOf(
			rest.Property{Name: "id", Required: true, Shape: rest.IsText},
			rest.Property{Name: "link", Required: true, Shape: rest.IsText},
			rest.Property{Name: "network_id", Required: true, Shape: rest.IsText},
			rest.Property{Name: "ip_address", Required: false, Shape: address},
			rest.Property{Name: "netmask", Required: false, Shape: netmask},
			rest.Property{Name: "routes", Required: false, Shape: rest.ListOf(rest.ObjectOf(
				rest.Property{Name: "network", Required: true, Shape: net},
				rest.Property{Name: "netmask", Required: true, Shape: netmask},
				rest.Property{Name: "gateway", Required: true, Shape: address},
				rest.Property{Name: "services", Required: false, Shape: rest.ListOf(serviceOf(address))},
			))},
		)
	}
	four, six := network(address4, netmask4, address4), network(address6, address6, address6)
	return map[string]rest.Shape{"ipv4": four, "ipv4_dhcp": four, "ipv6": six, "ipv6_dhcp": six, "ipv6_slaac": six}
}

func serviceOf(address rest.Shape) rest.Shape {
	return rest.ObjectOf(rest.Property{Name: "address", Required: true, Shape: address},
		rest.Property{Name: "type", Required: true, Shape: rest.OneOf("dns")})
}

var macForm = regexp.MustCompile(`^(?i)([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$`)

func isMAC(v any) string {
	if s, ok := v.(string); ok && macForm.MatchString(s) {
		return ""
	}
	return rest.Python(v) + " is no MAC address"
}

func isMTU(v any) string {
	if n, ok := v.(float64); v == nil || ok && n >= 1 && n <= 65535 {
		return ""
	}
	return rest.Python(v) + " is no number from 1 to 65535"
}

func address4(v any) string {
	s, _ := v.(string)
	if a, err := netip.ParseAddr(s); err == nil && a.Is4() {
		return ""
	}
	return rest.Python(v) + " is no IPv4 address"
}

// address6 may bring the length of its prefix along.
func address6(v any) string {
	s, _ := v.(string)
	host, length, cut := strings.Cut(s, "/")
	a, err := netip.ParseAddr(host)
	n, wrong := strconv.Atoi(length)
	if err != nil || !a.Is6() || cut && (wrong != nil || n < 0 || n > 128) {
		return rest.Python(v) + " is no IPv6 address"
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
	return rest.Python(v) + " is no IPv4 network mask"
}
