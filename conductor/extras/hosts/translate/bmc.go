package translate

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Access is the way to a BMC address: all settings except the credentials.
type Access struct {
	Scheme string // as written, "redfish+http"
	hostapi.BMCScheme
	driver
	info     map[string]any // driver_info
	Identity string         // one word for all ways to write the same BMC and machine
	Host     string         // where the BMC is
	endpoint string         // and where it listens there
	system   string         // which of the machines behind it; "" for the only one
}

// driver has a node's settings for the BMCs of a scheme. The abilities of such a BMC are in hostapi: see BMCScheme.
type driver struct {
	hardwareType string
	interfaces   map[string]string // beyond the hardware type's defaults
	Fast         string            // inspect interface of an inspection by the BMC, "" for none
	deploy       string            // the only deploy interface there is; "" for each its own
	info         func(u *url.URL, insecure bool) map[string]any
	user, pass   string // keys of driver_info
}

// byMedium is the boot interface of a ramdisk in a virtual drive.
const byMedium = "redfish-virtual-media"

// overRedfish is a machine behind a Redfish service, which boots its ramdisk in the
// way of the boot interface.
func overRedfish(boot string) driver {
	return driver{
		hardwareType: "redfish", Fast: "redfish", info: redfishInfo, user: "redfish_username", pass: "redfish_password",
		interfaces: map[string]string{"boot": boot, "firmware": "redfish", "raid": "redfish"},
	}
}

func overIPMI() driver {
	return driver{
		hardwareType: "ipmi", info: ipmiInfo, user: "ipmi_username", pass: "ipmi_password",
		interfaces: map[string]string{"boot": "ipxe", "raid": "no-raid"},
	}
}

// drivers has one for every scheme of a BMC address. BMCs of Dell and HPE are
// reached by Redfish alone. A fake host is a machine of the hardware type fake-hardware, for
// tests and trials: it does everything at once.
var drivers = map[string]driver{
	"redfish":              overRedfish("ipxe"),
	"redfish-uefihttp":     overRedfish("http"),
	"redfish-virtualmedia": overRedfish(byMedium),
	"ilo5-redfish":         overRedfish("ipxe"),
	"ilo5-virtualmedia":    overRedfish(byMedium),
	"idrac-redfish":        overRedfish("ipxe"),
	"idrac-virtualmedia":   overRedfish(byMedium),
	"ipmi":                 overIPMI(),
	"libvirt":              overIPMI(),
	"fake": {
		hardwareType: "fake-hardware", Fast: "redfish", deploy: "fake", user: "fake_username", pass: "fake_password",
		info: func(*url.URL, bool) map[string]any { return map[string]any{} },
	},
}

// AccessOf reads a BMC address.
func AccessOf(bmc hostapi.BMC) (Access, error) {
	u, err := parseAddress(bmc.Address)
	if err != nil {
		return Access{}, fmt.Errorf("spec.bmc.address %q %w", bmc.Address, err)
	}
	base, transport, has := strings.Cut(u.Scheme, "+")
	scheme, _ := hostapi.BMCSchemeOf(base)
	drv, known := drivers[base]
	switch {
	case !known:
		return Access{},
			fmt.Errorf("spec.bmc.address %q has the scheme %q, which this conductor does not know: it is one of %s",
				bmc.Address, u.Scheme, strings.Join(slices.Sorted(maps.Keys(drivers)), ", "))
	case has && !slices.Contains(scheme.Transports, transport):
		return Access{}, fmt.Errorf("spec.bmc.address %q has the scheme %q: only schemes of Redfish may have +http or +https",
			bmc.Address, u.Scheme)
	}
	a := Access{Scheme: u.Scheme, BMCScheme: scheme, driver: drv, info: drv.info(u, bmc.DisableCertificateVerification)}
	a.Host, a.endpoint = u.Hostname(), endpoint(u, drv.port(transport))
	a.Identity = drv.hardwareType + "://" + a.endpoint
	if path := systemPath(u); drv.hardwareType != "ipmi" && path != "" {
		a.system = path
		a.Identity += "/" + path
	}
	return a, nil
}

// port is the default port of a BMC, for an address without one.
func (d driver) port(transport string) string {
	switch {
	case d.hardwareType == "ipmi":
		return ipmiPort
	case transport == "http":
		return "80"
	}
	return "443"
}

// endpoint is one word for all ways to write where a BMC listens.
func endpoint(u *url.URL, usual string) string {
	name := strings.ToLower(u.Hostname())
	if ip, err := netip.ParseAddr(name); err == nil {
		name = ip.Unmap().String()
	}
	if port := u.Port(); port != "" && port != usual {
		return net.JoinHostPort(name, port)
	}
	if strings.Contains(name, ":") {
		return "[" + name + "]"
	}
	return name
}

// hostName matches the host names of RFC 1123.
var hostName = regexp.MustCompile(
	`^([A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?$`)

// parseAddress reads the forms that Metal3 takes: a URL, a URL without slashes ("ipmi:10.0.0.1:623"), or a host alone,
// which is IPMI.
func parseAddress(address string) (*url.URL, error) {
	full := address
	if !strings.Contains(address, "://") {
		scheme, rest, _ := strings.Cut(address, ":")
		base, _, _ := strings.Cut(scheme, "+")
		switch _, known := drivers[base]; {
		case known && rest != "":
			full = scheme + "://" + rest
		case net.ParseIP(address) != nil && strings.Contains(address, ":"):
			full = "ipmi://[" + address + "]"
		default:
			full = "ipmi://" + address
		}
	}
	u, err := url.Parse(full)
	if err != nil {
		return nil, fmt.Errorf("is no URL such as redfish://10.0.0.1/redfish/v1/Systems/1")
	}
	switch name := u.Hostname(); {
	case u.User != nil:
		return nil, fmt.Errorf("has a user in it: put user name and password into the secret of spec.bmc.credentialsName")
	case name == "":
		return nil, fmt.Errorf("names no host")
	case net.ParseIP(name) == nil && !hostName.MatchString(name):
		return nil, fmt.Errorf("has %q for a host, which is neither a name nor an address", name)
	}
	return u, nil
}

// redfishInfo returns the driver_info for Redfish. It uses HTTPS unless the scheme names another transport. The URL's
// path is the system's, except for the path of the whole service.
func redfishInfo(u *url.URL, insecure bool) map[string]any {
	_, transport, _ := strings.Cut(u.Scheme, "+")
	info := map[string]any{"redfish_address": cmp.Or(transport, "https") + "://" + u.Host}
	if systemPath(u) != "" {
		info["redfish_system_id"] = u.Path
	}
	if insecure {
		info["redfish_verify_ca"] = false
	}
	return info
}

// systemPath is where a service has its system; "" for the service as a whole.
func systemPath(u *url.URL) string {
	if path := strings.Trim(u.Path, "/"); path != "redfish/v1" {
		return path
	}
	return ""
}

const ipmiPort = "623"

// ipmiInfo has no certificates to verify.
func ipmiInfo(u *url.URL, _ bool) map[string]any {
	return map[string]any{
		"ipmi_address": u.Hostname(), "ipmi_port": cmp.Or(u.Port(), ipmiPort),
		"ipmi_priv_level": cmp.Or(u.Query().Get("privilegelevel"), "ADMINISTRATOR"),
	}
}

// driverInfo is the driver_info with the credentials.
func (a Access) driverInfo(l Login) map[string]any {
	info := maps.Clone(a.info)
	info[a.user], info[a.pass] = l.user, l.password
	return info
}

// ours reports whether the host sets a key of driver_info. All other keys are an operator's.
func ours(key string) bool {
	return strings.HasPrefix(key, "redfish_") || strings.HasPrefix(key, "ipmi_") || strings.HasPrefix(key, "fake_")
}
