package node

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// bmcSettings say which key of driver_info has the address of the BMC, and its form, by driver.
var bmcSettings = map[string]struct {
	key  string
	form func(netip.Addr) string
}{
	"redfish": {"redfish_address", func(a netip.Addr) string { return "https://" + hostInURL(a) }},
	"ipmi":    {"ipmi_address", netip.Addr.String},
}

func hostInURL(a netip.Addr) string {
	if a.Is6() {
		return "[" + a.String() + "]"
	}
	return a.String()
}

// BMCSetting returns the key and value of driver_info that name a BMC at an address. It reports false for a driver
// without such an address.
func BMCSetting(driver string, a netip.Addr) (key, value string, ok bool) {
	s, ok := bmcSettings[BaseType(driver)]
	if !ok {
		return "", "", false
	}
	return s.key, s.form(a), true
}

// BMCAddresses are the addresses of BMCs in driver_info as written there, sorted. Every driver's key for an address
// ends in _address, so that settings for another driver count, too.
func (n *Node) BMCAddresses() (all []string) {
	for k, v := range n.DriverInfo {
		if a, ok := v.(string); ok && strings.HasSuffix(k, "_address") {
			all = append(all, a)
		}
	}
	slices.Sort(all)
	return all
}

// BMCHosts are the hosts of BMCAddresses: names in small letters, IP addresses in their shortest form, each once.
func (n *Node) BMCHosts() (all []string) {
	for _, a := range n.BMCAddresses() {
		if host := PlainHost(hostOf(a)); host != "" && !slices.Contains(all, host) {
			all = append(all, host)
		}
	}
	return all
}

// PlainHost normalises a host: all spellings of an address become one.
func PlainHost(host string) string {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.String()
	}
	return strings.ToLower(host)
}

// hostOf is the host of a configured BMC address: host, host:port or URL.
func hostOf(configured string) string {
	if _, rest, ok := strings.Cut(configured, "://"); ok {
		configured, _, _ = strings.Cut(rest, "/")
	}
	if h, _, err := net.SplitHostPort(configured); err == nil {
		configured = h
	}
	return strings.Trim(configured, "[]")
}
