package inventory

import (
	"net/netip"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// usbNIC makes an interface on the USB port of a tree.
func usbNIC(t *testing.T, tree fstest.MapFS, name, port, mac string, of usb) {
	t.Helper()
	device := "sys/devices/pci0000:00/0000:00:14.0/usb1/" + port
	folder := device + "/" + port + ":1.0"
	fill(t, tree, strings.Join([]string{
		"sys/class/net/" + name + " -> ../../" + strings.TrimPrefix(folder, "sys/") + "/net/" + name,
		folder + "/net/" + name + "/device -> ../../../" + port + ":1.0",
		folder + "/net/" + name + `/type = "1\n"`,
		folder + "/net/" + name + `/address = "` + mac + `\n"`,
		folder + `/bInterfaceClass = "02\n"`,
		device + `/idVendor = "` + of.vendorID + `\n"`, device + `/idProduct = "` + of.productID + `\n"`,
		device + `/manufacturer = "` + of.vendor + `\n"`, device + `/product = "` + of.product + `\n"`, "",
	}, "\n"))
}

func TestNICsOfBMCs(t *testing.T) {
	// SMBIOS type 42: a network card of USB (first form) 1234:5678, another in the second form with an address, a PCI
	// card with an address, and a structure of another kind.
	smbiosHosts := "" +
		"\x2a\x0b\x00\x00\x40\x05\x02\x34\x12\x78\x56\x00\x00" +
		"\x2a\x13\x01\x00\x40\x0d\x04\x0d\x34\x12\x79\x56\x00\x02\x00\x00\x00\x00\x42\x00\x00" +
		"\x2a\x16\x02\x00\x40\x10\x05\x10\x01\x00\x02\x00\x03\x00\x04\x00\x02\x00\x00\x00\x00\x43\x00\x00" +
		"\x2a\x08\x03\x00\x02\x02\x02\x00\x00\x00"
	for name, tc := range map[string]struct {
		of   usb
		mac  string
		left bool
	}{
		"iDRAC": {usb{vendorID: "413c", productID: "a102", vendor: "Dell(TM)",
			product: "iDRAC Virtual NIC USB Device"}, "", true},
		"iLO": {usb{vendorID: "03f0", productID: "0001", vendor: "HPE",
			product: "iLO Virtual NIC"}, "", true},
		"XCC": {usb{vendorID: "04b3", productID: "4010", vendor: "IBM",
			product: "RNDIS/CDC ETHER"}, "", true},
		"AMI": {usb{vendorID: "046b", productID: "ffb0", vendor: "American Megatrends Inc.",
			product: "Virtual Ethernet."}, "", true},
		"ASPEED": {usb{vendorID: "0525", productID: "a4a2", vendor: "Linux 5.4.62 with aspeed_vhub",
			product: "RNDIS/Ethernet Gadget"}, "", true},
		"OpenBMC": {usb{vendorID: "1d6b", productID: "0104", vendor: "OpenBMC",
			product: "usb_eth"}, "", true},
		"named by SMBIOS": {usb{vendorID: "1234", productID: "5678", vendor: "Somebody",
			product: "Ethernet"}, "", true},
		"address named by SMBIOS": {usb{vendorID: "1234", productID: "0000"}, "02:00:00:00:00:42", true},
		"PCI address of SMBIOS":   {usb{vendorID: "1234", productID: "0000"}, "02:00:00:00:00:43", true},
		"a person's adapter":      {usb{vendorID: "0b95", productID: "1790", vendor: "ASIX", product: "AX88179"}, "", false},
		"QEMU's": {usb{vendorID: "0525", productID: "a4a2", vendor: "QEMU",
			product: "RNDIS/QEMU USB Network Device"}, "", false},
	} {
		tree := fstest.MapFS{"sys/firmware/dmi/tables/DMI": {Data: []byte(smbiosHosts)}}
		mac := tc.mac
		if mac == "" {
			mac = "02:00:00:00:00:01"
		}
		usbNIC(t, tree, "usb0", "1-4", mac, tc.of)
		list, skipped := Interfaces(tree, func(string) []netip.Addr { return nil })
		if left := len(list) == 0 && len(skipped) == 1; left != tc.left || len(list)+len(skipped) != 1 {
			t.Errorf("%s: %v, %v", name, list, skipped)
		}
		if macs := MACs(tree); (len(macs) == 0) != tc.left {
			t.Errorf("%s: a lookup with %v", name, macs)
		}
	}
}

func TestInfiniBand(t *testing.T) {
	tree := fstest.MapFS{}
	fill(t, tree, `sys/class/net/ib0 -> ../../devices/pci0000:00/0000:00:03.0/net/ib0
sys/devices/pci0000:00/0000:00:03.0/net/ib0/device -> ../../../0000:00:03.0
sys/devices/pci0000:00/0000:00:03.0/vendor = "0x15b3\n"
sys/bus/pci/devices/0000:00:03.0/index = "3\n"
sys/devices/pci0000:00/0000:00:03.0/net/ib0/type = "32\n"
sys/devices/pci0000:00/0000:00:03.0/net/ib0/carrier = "1\n"
sys/devices/pci0000:00/0000:00:03.0/net/ib0/address = "80:00:02:08:fe:80:00:00:00:00:00:00:7C:fe:90:03:00:29:26:52\n"
sys/class/net/lo/type = "772\n"
sys/class/net/bond0/type = "1\n"
`)
	list, skipped := Interfaces(tree, func(string) []netip.Addr { return nil })
	want := []agentapi.Interface{{
		Name: "ib0", MACAddress: "7c:fe:90:29:26:52",
		ClientID: "ff:00:00:00:00:00:02:00:00:02:c9:00:7c:fe:90:03:00:29:26:52", HasCarrier: true,
		Vendor: "0x15b3", BIOSDevName: "em3", PredictableName: "ibo3", PCIAddress: "0000:00:03.0",
	}}
	if diff := cmp.Diff(want, list); diff != "" || skipped != nil {
		t.Error(diff, skipped)
	}
	if diff := cmp.Diff([]string{"ib0"}, Wired(tree)); diff != "" {
		t.Error(diff)
	}
}

func TestTPMAndSecureBoot(t *testing.T) {
	yes, no := true, false
	for _, tc := range []struct {
		tree   string
		tpm    *agentapi.TPM
		secure *bool
	}{
		{"", nil, nil},
		{`sys/class/tpm/tpm0/tpm_version_major = "2\n"`, &agentapi.TPM{Version: "2.0"}, nil},
		{`sys/class/tpm/tpm0/tpm_version_major = "1\n"`, &agentapi.TPM{Version: "1.2"}, nil},
		{`sys/class/tpm/tpm0/device/description = "TPM 2.0 Device\n"`, &agentapi.TPM{Version: "2.0"}, nil},
		{`sys/class/tpm/tpm0/device/caps = "TCG version: 1.2\n"`, &agentapi.TPM{Version: "1.2"}, nil},
		{`sys/class/tpm/tpm0/dev = "10:224\n"`, &agentapi.TPM{}, nil},
		{secureBootVariable + ` = "\x06\x00\x00\x00\x01"`, nil, &yes},
		{secureBootVariable + ` = "\x06\x00\x00\x00\x00"`, nil, &no},
		{secureBootVariable + ` = "\x06"`, nil, nil},
	} {
		tree := fstest.MapFS{}
		if tc.tree != "" {
			fill(t, tree, tc.tree+"\n")
		}
		if diff := cmp.Diff(tc.tpm, TPM(tree)); diff != "" {
			t.Errorf("%s: %s", tc.tree, diff)
		}
		if diff := cmp.Diff(tc.secure, SecureBoot(tree)); diff != "" {
			t.Errorf("%s: %s", tc.tree, diff)
		}
	}
}

// TestMembersOfABond: each keeps its own address in the inventory, which ports are made of.
func TestMembersOfABond(t *testing.T) {
	tree := fstest.MapFS{}
	for name, own := range map[string]string{"eth0": "52:54:00:00:00:01", "eth1": "52:54:00:00:00:02"} {
		folder := "sys/devices/pci0000:00/0000:00:03.0/net/" + name
		fill(t, tree, strings.Join([]string{
			"sys/class/net/" + name + " -> ../../devices/pci0000:00/0000:00:03.0/net/" + name,
			folder + "/device -> ../../../0000:00:03.0",
			folder + `/type = "1\n"`, folder + `/address = "52:54:00:00:00:01\n"`,
			folder + `/bonding_slave/perm_hwaddr = "` + own + `\n"`, "",
		}, "\n"))
	}
	if diff := cmp.Diff([]string{"52:54:00:00:00:01", "52:54:00:00:00:02"}, MACs(tree)); diff != "" {
		t.Error(diff)
	}
}
