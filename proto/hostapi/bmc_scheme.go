package hostapi

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// BMCScheme describes a BMC by the scheme of its address. conductor/extras/hosts/host chooses the driver.
type BMCScheme struct {
	Name       string
	Transports []string // may follow a "+"
	NeedsMAC   bool     // it cannot report the machine's addresses
	SecureBoot bool     // it can switch secure boot on
	RAID       bool     // it can make volumes of the machine's RAID controller
}

// BMCSchemes are the schemes that may be written: Metal3's, and fake, which is a
// machine in the conductor's head.
func BMCSchemes() []BMCScheme {
	web := []string{"http", "https"}
	return []BMCScheme{
		{Name: "ipmi"},
		{Name: "libvirt", NeedsMAC: true},
		{Name: "redfish", Transports: web, SecureBoot: true, RAID: true},
		{Name: "ilo5-redfish", Transports: web, SecureBoot: true, RAID: true},
		{Name: "idrac-redfish", Transports: web, SecureBoot: true, RAID: true},
		{Name: "redfish-uefihttp", Transports: web, SecureBoot: true, RAID: true},
		{Name: "redfish-virtualmedia", Transports: web, SecureBoot: true, RAID: true},
		{Name: "ilo5-virtualmedia", Transports: web, SecureBoot: true, RAID: true},
		{Name: "idrac-virtualmedia", Transports: web, SecureBoot: true, RAID: true},
		{Name: "fake", SecureBoot: true, RAID: true},
	}
}

// BMCSchemeOf finds a scheme by its name, without a transport; false when there is
// none of that name.
func BMCSchemeOf(name string) (BMCScheme, bool) {
	for _, s := range BMCSchemes() {
		if s.Name == name {
			return s, true
		}
	}
	return BMCScheme{}, false
}

// bmcScheme reads an address; without a scheme it is of IPMI.
func bmcScheme(address string) (BMCScheme, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" || u.Opaque != "" && !strings.Contains(address, "://") {
		if _, _, split := net.SplitHostPort(address); split == nil || !strings.ContainsAny(address, "/ ") && address != "" {
			return BMCSchemes()[0], nil
		}
		return BMCScheme{}, fmt.Errorf("expected a URL like redfish+https://10.0.0.1/redfish/v1/Systems/1 or ipmi://10.0.0.1")
	}
	name, transport, _ := strings.Cut(u.Scheme, "+")
	s, known := BMCSchemeOf(name)
	switch {
	case !known || transport != "" && !slices.Contains(s.Transports, transport):
		return BMCScheme{},
			fmt.Errorf("no driver is known for %s://, only for %s; schemes of Redfish also with +http or +https", u.Scheme,
				schemeNames())
	case u.Host == "":
		return s, fmt.Errorf("expected a host behind %s://", u.Scheme)
	}
	return s, nil
}

func schemeNames() string {
	var names []string
	for _, s := range BMCSchemes() {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}
