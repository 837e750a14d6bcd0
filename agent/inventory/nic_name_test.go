package inventory

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// TestPredictableName: names of systemd.net-naming-scheme(7), out of sysfs trees that are written down.
func TestPredictableName(t *testing.T) {
	type files = map[string]string // of the interface ("net/"), its PCI function ("pci/") or from the root
	multi := string(append(make([]byte, 14), 0x80))
	single := string(make([]byte, 15))
	for _, tc := range []struct {
		device string // below sys/devices
		files  files
		want   string
	}{
		// by the index of ACPI or SMBIOS
		{"pci0000:00/0000:00:1f.6", files{"pci/index": "1"}, "eno1"},
		{"pci0000:00/0000:00:1f.6", files{"pci/index": "2", "pci/acpi_index": "3"}, "eno3"},
		{"pci0000:16/0000:16:02.0/0000:17:00.1", files{"pci/acpi_index": "2", "net/phys_port_name": "p1"}, "eno2np1"},
		{"pci0000:00/0000:00:1f.6", files{"pci/acpi_index": "16384", "pci/index": "1"}, "enp0s31f6"},
		{"pci0000:00/0000:00:03.0/virtio0", files{"pci/acpi_index": "0", "pci/config": single}, "eno0"},
		// by the slot
		{"pci0000:00/0000:00:1c.0/0000:03:00.0", files{"sys/bus/pci/slots/1/address": "0000:03:00", "pci/config": multi},
			"ens1f0"},
		{"pci0000:00/0000:00:1c.0/0000:03:00.1", files{"sys/bus/pci/slots/1/address": "0000:03:00",
			"net/phys_port_name": "p1"}, "ens1f1np1"},
		{"pci0000:00/0000:00:03.0/virtio0", files{"sys/bus/pci/slots/3/address": "0000:00:03"}, "ens3"},
		{"pci0000:00/0000:00:03.0/virtio0", files{"sys/bus/pci/slots/3-1/address": "0000:00:03"}, "enp0s3"},
		{"pci0001:00/0001:00:02.0/0001:01:00.0", files{"sys/bus/pci/slots/4/address": "0001:01:00"}, "enP1s4"},
		{"pci0000:00/0000:00:1c.0/0000:03:00.0", files{"sys/bus/pci/slots/7/address": "0000:00:1c",
			"sys/bus/pci/devices/0000:00:1c.0/class": "0x060400"}, "enp3s0"}, // a bridge's slot
		// by the place
		{"pci0000:00/0000:00:01.0/0000:03:00.1", files{"net/phys_port_name": "p1"}, "enp3s0f1np1"},
		{"pci0000:00/0000:00:01.0/0000:03:00.0", files{"pci/config": single}, "enp3s0"},
		{"pci0000:00/0000:00:01.0/0000:03:00.0", files{"pci/config": multi}, "enp3s0f0"},
		{"pci0000:00/0000:00:01.0/0000:03:00.0", files{"sys/bus/pci/devices/0000:03:00.1/class": "0x020000"}, "enp3s0f0"},
		{"pci0000:00/0000:00:01.0/0000:03:00.0", files{"net/dev_port": "1"}, "enp3s0d1"},
		{"pci0002:00/0002:00:01.0/0002:01:00.0", nil, "enP2p1s0"},
		{"pci0000:80/0000:80:01.0/0000:af:00.0", nil, "enp175s0"},
		{"pci0000:00/0000:00:01.0/0000:03:02.1", files{"pci/ari_enabled": "1"}, "enp3s2f17"},
		{"pci0000:00/0000:00:01.0/0000:03:00.0", files{"net/type": "32", "net/dev_id": "0x1"}, "ibp3s0d1"},
		{"pci0000:00/0000:00:14.3", files{"net/uevent": "DEVTYPE=wlan\nINTERFACE=wlan0\n"}, "wlp0s20f3"},
		{"pci0000:00/0000:00:14.0/usb1/1-1/1-1.2/1-1.2:1.0", nil, "enp0s20u1u2"},
		{"pci0000:00/0000:00:14.0/usb2/2-3/2-3:2.1", nil, "enp0s20u3c2i1"},
		// none
		{"pci0000:00/0000:00:14.0/usb1/1-1/1-1.2/1-1.2.3/1-1.2.3.4:1.0", files{"net/dev_port": "1"}, ""}, // too long
		{"platform/soc/1c30000.ethernet", nil, ""},
		{"virtual", nil, ""},
		{"pci0000:00/0000:00:01.0/0000:03:00.0", files{"net/type": "772"}, ""},
		{"pci0000:00/0000:00:01.0/0000:03:10.0", files{"pci/physfn": ""}, ""},
	} {
		tree := fstest.MapFS{}
		net, pci := "sys/devices/"+tc.device+"/net/eth0", ""
		for part := range strings.SplitSeq(tc.device, "/") {
			if pciFunction.MatchString(part) {
				pci = part
			}
		}
		lines := []string{"sys/class/net/eth0 -> ../../devices/" + tc.device + "/net/eth0"}
		all := files{"net/type": "1"}
		for name, content := range tc.files {
			all[name] = content
		}
		for name, content := range all {
			switch kind, rest, _ := strings.Cut(name, "/"); kind {
			case "net":
				name = path.Join(net, rest)
			case "pci":
				name = path.Join("sys/bus/pci/devices", pci, rest)
			}
			lines = append(lines, name+" = "+strconv.Quote(content))
		}
		fill(t, tree, strings.Join(append(lines, ""), "\n"))
		if got := predictableName(tree, "eth0"); got != tc.want {
			t.Errorf("%s %v: %q, want %q", tc.device, tc.files, got, tc.want)
		}
	}
}

// FuzzPredictableName: no path and no file of a driver makes a name that is too long, or breaks the inventory.
func FuzzPredictableName(f *testing.F) {
	f.Add("pci0000:00/0000:00:1c.0/0000:03:00.0", "p1", "1")
	f.Add("pci0000:00/0000:00:14.0/usb1/1-1/1-1.2:1.0", "", "x")
	f.Fuzz(func(t *testing.T, device, port, index string) {
		tree := fstest.MapFS{
			"sys/class/net/eth0": {
				Mode: 0o777 | fs.ModeSymlink, Data: []byte("../../devices/" + device + "/net/eth0"),
			},
			"sys/bus/pci/devices/0000:03:00.0/index": {Data: []byte(index)},
		}
		n := nicPlace{fsys: tree, prefix: "en", port: "n" + port}
		if n.find("sys/devices/" + device + "/net/eth0") {
			_, _, _ = n.onboard(), n.slot(), n.path()
		}
		if got := predictableName(tree, "eth0"); len(got) > maxName {
			t.Errorf("%q is too long", got)
		}
	})
}
