package bmc

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// target is a BMC as people write it.
type target struct {
	driver string         // redfish or ipmi
	info   map[string]any // driver_info: where it is
}

// parse reads an address: a host, a URL of http or https, or one of Metal3's forms, such as
// idrac-virtualmedia+https://10.0.0.1/redfish/v1/Systems/1 and ipmi://10.0.0.1:623.
func parse(address, system string) (target, error) {
	scheme, rest, has := strings.Cut(address, "://")
	if !has {
		scheme, rest = "https", bracketed(address)
	}
	if scheme == "ipmi" || scheme == "libvirt" {
		return ipmiTarget(rest)
	}
	if _, transport, two := strings.Cut(scheme, "+"); two {
		scheme = transport
	}
	if scheme != "http" {
		scheme = "https"
	}
	host, path, _ := strings.Cut(rest, "/")
	if host == "" {
		return target{}, fmt.Errorf("%q: expected the address of a BMC, as 10.0.0.1, https://10.0.0.1 or ipmi://10.0.0.1",
			address)
	}
	info := map[string]any{}
	if before, after, found := strings.Cut(path, "/Systems/"); found && after != "" {
		path = before
		system = cmp.Or(system, "/"+before+"/Systems/"+after)
	}
	info["redfish_address"] = strings.TrimSuffix(scheme+"://"+host+"/"+path, "/")
	if system != "" {
		if !strings.HasPrefix(system, "/") {
			system = "/redfish/v1/Systems/" + system
		}
		info["redfish_system_id"] = system
	}
	return target{"redfish", info}, nil
}

// bracketed puts an IPv6 address into brackets, as URLs have it; its zone stays.
func bracketed(address string) string {
	if a, err := netip.ParseAddr(address); err == nil && a.Is6() {
		return "[" + address + "]"
	}
	return address
}

func ipmiTarget(rest string) (target, error) {
	rest, _, _ = strings.Cut(rest, "?")
	u, err := url.Parse("ipmi://" + strings.TrimSuffix(rest, "/"))
	if err != nil || u.Hostname() == "" || u.Path != "" {
		return target{}, fmt.Errorf("%q: expected ipmi://HOST or ipmi://HOST:PORT", "ipmi://"+rest)
	}
	info := map[string]any{"ipmi_address": u.Hostname()}
	if _, port, err := net.SplitHostPort(u.Host); err == nil {
		info["ipmi_port"] = port
	}
	return target{"ipmi", info}, nil
}
