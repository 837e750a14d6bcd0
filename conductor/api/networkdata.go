package api

import (
	"fmt"
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

// rule says what is wrong with a value, "" for nothing.
type rule func(v any) string

// member is one member of an object.
type member struct {
	name     string
	required bool
	rule     rule
}

// members is the rule for objects with these members; others are let through.
func members(all ...member) rule {
	return func(v any) string {
		m, ok := v.(map[string]any)
		if !ok {
			return python(v) + " is not of type 'object'"
		}
		for _, part := range all {
			value, there := m[part.name]
			switch {
			case !there && part.required:
				return fmt.Sprintf("'%s' is a required property", part.name)
			case !there:
			default:
				if wrong := part.rule(value); wrong != "" {
					return part.name + ": " + wrong
				}
			}
		}
		return ""
	}
}

// each is the rule for lists.
func each(item rule) rule {
	return func(v any) string {
		list, ok := v.([]any)
		if !ok {
			return python(v) + " is not of type 'array'"
		}
		for i, value := range list {
			if wrong := item(value); wrong != "" {
				return fmt.Sprintf("%d: %s", i, wrong)
			}
		}
		return ""
	}
}

// byType is the rule for objects that are of one kind or the other by their
// member type.
func byType(kinds map[string]rule) rule {
	return func(v any) string {
		m, ok := v.(map[string]any)
		if !ok {
			return python(v) + " is not of type 'object'"
		}
		kind, _ := m["type"].(string)
		if r := kinds[kind]; r != nil {
			return r(v)
		}
		return fmt.Sprintf("type: %s is not one of ['%s']", python(m["type"]), strings.Join(sortedKeys(kinds), "', '"))
	}
}

// either is the rule for what is fine by one of two rules.
func either(a, b rule) rule {
	return func(v any) string {
		wrong := a(v)
		if wrong == "" || b(v) == "" {
			return ""
		}
		return wrong
	}
}

func networkData() rule {
	return members(
		member{"links", true, each(byType(linkKinds()))},
		member{"networks", true, each(byType(networkKinds()))},
		member{"services", true, each(either(service(address4), service(address6)))},
	)
}

func linkKinds() map[string]rule {
	link := func(more ...member) rule {
		return members(append([]member{
			{"id", true, isText}, {"ethernet_mac_address", true, isMAC}, {"mtu", false, isMTU}, {"vif_id", false, isText},
		}, more...)...)
	}
	kinds := map[string]rule{
		"bond": link(
			member{"bond_mode", true, oneOf("802.3ad", "balance-rr", "active-backup", "balance-xor", "broadcast", "balance-tlb", "balance-alb")},
			member{"bond_links", true, each(isText)},
		),
		"vlan": members(
			member{"id", true, isText}, member{"vlan_mac_address", true, isMAC}, member{"vlan_link", true, isText},
			member{"vlan_id", true, isWhole}, member{"mtu", false, isMTU}, member{"vif_id", false, isText},
		),
	}
	for _, kind := range []string{"bridge", "dvs", "hw_veb", "hyperv", "ovs", "tap", "vhostuser", "vif", "phy"} {
		kinds[kind] = link()
	}
	return kinds
}

func networkKinds() map[string]rule {
	network := func(address, netmask, net rule) rule {
		return members(
			member{"id", true, isText}, member{"link", true, isText}, member{"network_id", true, isText},
			member{"ip_address", false, address}, member{"netmask", false, netmask},
			member{"routes", false, each(members(
				member{"network", true, net}, member{"netmask", true, netmask}, member{"gateway", true, address},
				member{"services", false, each(service(address))},
			))},
		)
	}
	four, six := network(address4, netmask4, address4), network(address6, address6, address6)
	return map[string]rule{"ipv4": four, "ipv4_dhcp": four, "ipv6": six, "ipv6_dhcp": six, "ipv6_slaac": six}
}

func service(address rule) rule {
	return members(member{"address", true, address}, member{"type", true, oneOf("dns")})
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

func isWhole(v any) string {
	if n, ok := v.(float64); ok && n == float64(int64(n)) {
		return ""
	}
	return python(v) + " is not of type 'integer'"
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
