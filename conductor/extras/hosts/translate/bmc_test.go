package translate

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/ipmi"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestAddresses has the BMC addresses that Metal3 takes, and the driver settings that they become.
func TestAddresses(t *testing.T) {
	const wrong = ""
	for _, c := range []struct {
		address  string
		insecure bool
		driver   string
		boot     string
		info     document
		problem  string
	}{
		{"redfish://10.0.0.1/redfish/v1/Systems/1", false, "redfish", "ipxe",
			document{"redfish_address": "https://10.0.0.1", "redfish_system_id": "/redfish/v1/Systems/1"}, ""},
		{"redfish://bmc.example:8443/redfish/v1/", true, "redfish", "ipxe",
			document{"redfish_address": "https://bmc.example:8443", "redfish_verify_ca": false}, ""},
		{"redfish+http://[fd00::1]:8000/redfish/v1/Systems/1", false, "redfish", "ipxe",
			document{"redfish_address": "http://[fd00::1]:8000", "redfish_system_id": "/redfish/v1/Systems/1"}, ""},
		{"redfish-virtualmedia+https://10.0.0.1", false, "redfish", "redfish-virtual-media",
			document{"redfish_address": "https://10.0.0.1"}, ""},
		{"redfish-uefihttp://10.0.0.1", false, "redfish", "http", document{"redfish_address": "https://10.0.0.1"}, ""},
		{"idrac-virtualmedia://10.0.0.1/redfish/v1/Systems/System.Embedded.1", false, "redfish", "redfish-virtual-media",
			document{"redfish_address": "https://10.0.0.1", "redfish_system_id": "/redfish/v1/Systems/System.Embedded.1"}, ""},
		{"idrac-redfish://10.0.0.1/redfish/v1/Systems/System.Embedded.1", false, "redfish", "ipxe",
			document{"redfish_address": "https://10.0.0.1", "redfish_system_id": "/redfish/v1/Systems/System.Embedded.1"}, ""},
		{"ilo5-redfish://10.0.0.1", false, "redfish", "ipxe", document{"redfish_address": "https://10.0.0.1"}, ""},
		{"ipmi://10.0.0.1", false, "ipmi", "ipxe",
			document{"ipmi_address": "10.0.0.1", "ipmi_port": "623", "ipmi_priv_level": "ADMINISTRATOR"}, ""},
		{"ipmi://[fd00::1]:6230?privilegelevel=OPERATOR", true, "ipmi", "ipxe",
			document{"ipmi_address": "fd00::1", "ipmi_port": "6230", "ipmi_priv_level": "OPERATOR"}, ""},
		{"ipmi:10.0.0.1:6230", false, "ipmi", "ipxe",
			document{"ipmi_address": "10.0.0.1", "ipmi_port": "6230", "ipmi_priv_level": "ADMINISTRATOR"}, ""},
		{"10.0.0.1:6230", false, "ipmi", "ipxe",
			document{"ipmi_address": "10.0.0.1", "ipmi_port": "6230", "ipmi_priv_level": "ADMINISTRATOR"}, ""},
		{"fd00::1", false, "ipmi", "ipxe",
			document{"ipmi_address": "fd00::1", "ipmi_port": "623", "ipmi_priv_level": "ADMINISTRATOR"}, ""},
		{"libvirt://10.0.0.1:6230", false, "ipmi", "ipxe",
			document{"ipmi_address": "10.0.0.1", "ipmi_port": "6230", "ipmi_priv_level": "ADMINISTRATOR"}, ""},
		{"fake://rack1/1", false, "fake-hardware", "", document{}, ""},
		{"irmc://10.0.0.1", false, wrong, "", nil,
			`has the scheme "irmc", which this conductor does not know: it is one of fake, idrac-redfish, ` +
				`idrac-virtualmedia, ilo5-redfish, ilo5-virtualmedia, ipmi, libvirt, redfish, redfish-uefihttp, redfish-virtualmedia`},
		{"ipmi+https://10.0.0.1", false, wrong, "", nil,
			`has the scheme "ipmi+https": only schemes of Redfish may have +http or +https`},
		{"redfish+ftp://10.0.0.1", false, wrong, "", nil, `only schemes of Redfish may have +http or +https`},
		{"redfish://", false, wrong, "", nil, "names no host"},
		{"redfish://my_bmc", false, wrong, "", nil, `has "my_bmc" for a host`},
		{"redfish://admin:pw@10.0.0.1", false, wrong, "", nil, "has a user in it"},
		{"redfish://10.0.0.1:port", false, wrong, "", nil, "is no URL"},
	} {
		a, err := AccessOf(hostapi.BMC{Address: c.address, DisableCertificateVerification: c.insecure})
		if c.problem != "" {
			if err == nil || !strings.Contains(err.Error(), c.problem) || strings.Contains(err.Error(), "pw@") &&
				!strings.Contains(c.address, "pw@") {
				t.Errorf("%s: %v, want %s", c.address, err, c.problem)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.address, err)
			continue
		}
		if diff := cmp.Diff(c.info, a.info); diff != "" || a.hardwareType != c.driver || a.interfaces["boot"] != c.boot {
			t.Errorf("%s: driver %s, boot %s (-want +got):\n%s", c.address, a.hardwareType, a.interfaces["boot"], diff)
		}
		n := node.Node{Driver: a.hardwareType, DriverInfo: a.driverInfo(Login{"admin", "secret"})}
		hw, known := node.HardwareTypeByName(a.hardwareType)
		for kind, name := range a.interfaces {
			if !known || !hw.Supports(kind, name) {
				t.Errorf("%s: %s has no %s interface %s", c.address, a.hardwareType, kind, name)
			}
		}
		for driver, validate := range map[string]func(node.Node) error{"redfish": redfish.New(redfish.Options{}).Validate,
			"ipmi": ipmi.New(ipmi.Options{}).Validate} {
			if driver == a.hardwareType && validate(n) != nil {
				t.Errorf("%s: the driver does not take it: %v", c.address, validate(n))
			}
		}
	}
}

// One machine is one, however its address is written.
func TestIdentity(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"redfish://BMC.example/redfish/v1/Systems/1", "idrac-redfish+https://bmc.example/redfish/v1/Systems/1/", true},
		{"redfish://bmc.example/redfish/v1/Systems/1", "redfish://bmc.example/redfish/v1/Systems/2", false},
		{"redfish://10.0.0.1/redfish/v1/Systems/1", "redfish://10.0.0.1:443/redfish/v1/Systems/1", true},
		{"redfish+http://10.0.0.1:80", "redfish+http://10.0.0.1", true},
		{"redfish://10.0.0.1:8000", "redfish://10.0.0.1", false},
		{"redfish://bmc.example/redfish/v1/", "redfish://bmc.example", true},
		{"ipmi://10.0.0.1:623", "10.0.0.1", true},
		{"ipmi://10.0.0.1:6230", "ipmi://10.0.0.1", false},
		{"ipmi://[2001:db8:0:0::1]", "2001:DB8::1", true},
	} {
		a, _ := AccessOf(hostapi.BMC{Address: c.a})
		b, _ := AccessOf(hostapi.BMC{Address: c.b})
		if (a.Identity == b.Identity) != c.same {
			t.Errorf("%s and %s: %q and %q", c.a, c.b, a.Identity, b.Identity)
		}
	}
}

// TestDrivers: every scheme that may be written in a document has a driver, and
// no driver is for a scheme that is refused there.
func TestDrivers(t *testing.T) {
	var written []string
	for _, s := range hostapi.BMCSchemes() {
		written = append(written, s.Name)
	}
	slices.Sort(written)
	if diff := cmp.Diff(written, slices.Sorted(maps.Keys(drivers))); diff != "" {
		t.Errorf("schemes (-documents +drivers):\n%s", diff)
	}
}

func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"redfish://10.0.0.1/redfish/v1/Systems/1", "ipmi:10.0.0.1:623", "fd00::1",
		"libvirt://[::1]:1?privilegelevel=USER", "redfish+http://a/%zz", "://", "fake:"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		a, err := AccessOf(hostapi.BMC{Address: address})
		if err == nil && (a.hardwareType == "" || a.Identity == "" || a.info == nil) {
			t.Errorf("%q is taken for %+v", address, a)
		}
	})
}
