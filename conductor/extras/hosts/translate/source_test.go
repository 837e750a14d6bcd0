package translate

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/rootdevice"
)

type document = map[string]any

const sourceUID = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"

// testSource is a host with an image, which boots by UEFI from /dev/sda.
func testSource(change func(*hostapi.HostSpec)) Source {
	s := Source{Secrets: map[string]hostapi.Secret{}}
	s.Host = hostapi.Host{
		ObjectMeta: hostapi.ObjectMeta{Name: "a", Namespace: "default", UID: sourceUID},
		Spec: hostapi.HostSpec{
			BMC:   hostapi.BMC{Address: "redfish://10.0.0.1/redfish/v1/Systems/1", CredentialsName: "bmc"},
			Image: &hostapi.Image{URL: "http://images/a.qcow2", Checksum: "00", ChecksumType: hostapi.SHA256},
		},
		Status: hostapi.HostStatus{Provisioning: hostapi.Provisioning{
			State: hostapi.StateProvisioning, BootMode: hostapi.UEFI,
			RootDeviceHints: &hostapi.RootDeviceHints{DeviceName: "/dev/sda"},
		}},
	}
	change(&s.Host.Spec)
	return s
}

func TestBootModes(t *testing.T) {
	for _, c := range []struct {
		caps string
		mode hostapi.BootMode
		want string
	}{
		{"", hostapi.UEFI, "boot_mode:uefi"},
		{"cpu_vt:true,boot_mode:bios", hostapi.UEFI, "cpu_vt:true,boot_mode:uefi"},
		{"", hostapi.UEFISecureBoot, "boot_mode:uefi,secure_boot:true"},
		{"boot_mode:uefi,secure_boot:true,a:b", hostapi.Legacy, "boot_mode:bios,a:b"},
	} {
		if got := capabilities(c.caps, c.mode); got != c.want {
			t.Errorf("%q, %s: got %q, want %q", c.caps, c.mode, got, c.want)
		}
	}
}

// TestRootDevice: each hint becomes a hint that the agent reads.
func TestRootDevice(t *testing.T) {
	yes := true
	all := hostapi.RootDeviceHints{
		DeviceName: "/dev/sda", HCTL: "0:0:0:0", Model: "Sky", Vendor: "Acme", SerialNumber: "1", MinSizeGigabytes: 50,
		WWN: "0x1", WWNWithExtension: "0x12", WWNVendorExtension: "0x2", Rotational: &yes,
	}
	want := document{
		"name": "s== /dev/sda", "hctl": "s== 0:0:0:0", "model": "<in> Sky", "vendor": "<in> Acme", "serial": "s== 1",
		"size": ">= 50",
		"wwn":  "s== 0x1", "wwn_with_extension": "s== 0x12", "wwn_vendor_extension": "s== 0x2", "rotational": "true",
	}
	got := RootDevice(&all)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := rootdevice.Hints(got).Validate(); err != nil {
		t.Error(err)
	}
	if got := RootDevice(
		&hostapi.RootDeviceHints{DeviceName: "/dev/disk/by-path/pci-1"}); got["by_path"] != "s== /dev/disk/by-path/pci-1" {
		t.Error(got)
	}
}

func TestImages(t *testing.T) {
	format := func(s string) *string { return &s }
	for _, c := range []struct {
		image hostapi.Image
		want  document
	}{
		{hostapi.Image{URL: "http://h/i", Checksum: "00", ChecksumType: hostapi.SHA512, Format: format("raw")},
			document{"image_source": "http://h/i", "image_disk_format": "raw", "image_os_hash_algo": "sha512",
				"image_os_hash_value": "00"}},
		{hostapi.Image{URL: "http://h/i", Checksum: "http://h/sums", ChecksumType: hostapi.ChecksumAuto},
			document{"image_source": "http://h/i", "image_checksum": "http://h/sums"}},
		{hostapi.Image{URL: "http://h/i", Checksum: "00"}, document{"image_source": "http://h/i", "image_checksum": "00"}},
		{hostapi.Image{URL: "http://h/i.iso", Format: format(hostapi.LiveISO)}, document{"boot_iso": "http://h/i.iso"}},
		{hostapi.Image{URL: "oci://r/i:1"}, document{"image_source": "oci://r/i:1"}},
	} {
		s := testSource(func(*hostapi.HostSpec) {})
		n := node.Node{InstanceInfo: document{"image_pull_secret": "of the last", "image_pull_registry": "of the last",
			"boot_iso": "of the last", "traits": "kept"}}
		a, _ := AccessOf(s.Host.Spec.BMC)
		s.SetInstance(&n, a, &c.image, nil)
		c.want["capabilities"], c.want["root_device"], c.want["traits"] = document{}, document{"name": "s== /dev/sda"}, "kept"
		if diff := cmp.Diff(c.want, n.InstanceInfo); diff != "" || n.InstanceUUID != sourceUID {
			t.Errorf("%s (-want +got):\n%s", c.image.URL, diff)
		}
		deploy := map[bool]string{true: "ramdisk", false: "direct"}[LiveISO(&c.image)]
		if n.Interfaces["deploy"] != deploy {
			t.Errorf("%s: deploy interface %s, want %s", c.image.URL, n.Interfaces["deploy"], deploy)
		}
	}
}

func TestPullSecrets(t *testing.T) {
	for want, data := range map[string]map[string][]byte{
		"dTpw": {"username": []byte("u"), "password": []byte("p")},
		"abc":  {".dockerconfigjson": []byte(`{"auths":{"r:5000":{"auth":"abc"}}}`)},
		"dTpx": {
			".dockerconfigjson": []byte(`{"auths":{"r:5000":{"username":"u","password":"q"}}}`),
		},
		"abc for gitlab.example.com,other": {
			".dockerconfigjson": []byte(
				`{"auths":{"r:5000":{"auth":"abc"},"other":{"auth":"abc"},"x":{"auth":"abcd"},"gitlab.example.com":{"auth":"abc"}}}`),
		},
		"knows nothing":        {".dockerconfigjson": []byte(`{"auths":{"other":{}}}`)},
		"neither username and": {"token": []byte("x")},
		"default/pull of":      nil,
	} {
		name := "pull"
		s := testSource(func(spec *hostapi.HostSpec) {
			spec.Image = &hostapi.Image{URL: "oci://r:5000/i:1", OCIAuthSecret: &name}
		})
		if data != nil {
			s.Secrets["pull"] = hostapi.Secret{Data: data}
		}
		got, tokens, err := s.PullSecret(RegistryOf(s.Host.Spec.Image))
		if tokens != "" {
			got += " for " + tokens
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestConfigDrive(t *testing.T) {
	ref := func(name string) *hostapi.SecretReference { return &hostapi.SecretReference{Name: name} }
	data := func(key, value string) hostapi.Secret {
		return hostapi.Secret{Data: map[string][]byte{key: []byte(value)}}
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("#cloud-config")); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	meta := document{"uuid": sourceUID, "metal3-namespace": "default", "metal3-name": "a", "local-hostname": "a",
		"local_hostname": "a", "name": "a"}
	for name, c := range map[string]struct {
		spec    func(*hostapi.HostSpec)
		secrets map[string]hostapi.Secret
		want    document
		problem string
	}{
		"nothing": {func(*hostapi.HostSpec) {}, nil, document{"meta_data": meta}, ""},
		"all": {func(s *hostapi.HostSpec) { s.UserData, s.NetworkData, s.MetaData = ref("u"), ref("n"), ref("m") },
			map[string]hostapi.Secret{"u": data("userData", "#cloud-config"), "n": data("networkData", "links:\n- id: eth0\n"),
				"m": data("value", `{"name":"b","uuid":"x"}`)},
			document{"user_data": "#cloud-config", "network_data": document{"links": []any{document{"id": "eth0"}}},
				"meta_data": document{"uuid": "x", "metal3-namespace": "default", "metal3-name": "a", "local-hostname": "a",
					"local_hostname": "a", "name": "b"}}, ""},
		"network of the ramdisk": {func(s *hostapi.HostSpec) { s.PreprovisioningNetworkDataName = "n" },
			map[string]hostapi.Secret{"n": data("networkData", "{}")},
			document{"network_data": document{}, "meta_data": meta}, ""},
		"no network in it": {
			func(s *hostapi.HostSpec) { s.NetworkData = ref("n") }, map[string]hostapi.Secret{"n": data("other", "{}")},
			document{"meta_data": meta}, "",
		},
		"gzip": {func(s *hostapi.HostSpec) { s.UserData = ref("u") },
			map[string]hostapi.Secret{"u": data("userData", packed.String())},
			document{"user_data": "#cloud-config", "meta_data": meta}, ""},
		"damaged gzip": {func(s *hostapi.HostSpec) { s.UserData = ref("u") },
			map[string]hostapi.Secret{"u": data("userData", packed.String()[:20])}, nil, "spec.userData is damaged gzip"},
		"no text": {func(s *hostapi.HostSpec) { s.UserData = ref("u") },
			map[string]hostapi.Secret{"u": data("userData", "\xff\xfeM\x00")}, nil, "spec.userData is no UTF-8 text"},
		"live": {
			func(s *hostapi.HostSpec) { iso := hostapi.LiveISO; s.Image.Format, s.UserData = &iso, ref("u") }, nil, nil, "",
		},
		"no user data": {
			func(s *hostapi.HostSpec) { s.UserData = ref("u") }, map[string]hostapi.Secret{"u": data("other", "")}, nil,
			"the secret default/u of spec.userData has neither userData nor value",
		},
		"missing": {func(s *hostapi.HostSpec) { s.MetaData = ref("m") }, nil, nil,
			"the secret default/m of spec.metaData does not exist"},
		"another's": {func(s *hostapi.HostSpec) {
			s.UserData = &hostapi.SecretReference{Name: "u", Namespace: "kube-system"}
		}, nil, nil,
			"spec.userData names a secret of namespace kube-system: only secrets of the host's own, default, may be used"},
		"no object": {
			func(s *hostapi.HostSpec) { s.NetworkData = ref("n") }, map[string]hostapi.Secret{"n": data("networkData", "- a")},
			nil, "the value that spec.networkData names is no object in YAML or JSON",
		},
	} {
		s := testSource(c.spec)
		for n, secret := range c.secrets {
			s.Secrets[n] = secret
		}
		got, err := s.ConfigDrive()
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v, want %q", name, err, c.problem)
		}
	}
}

func TestRAID(t *testing.T) {
	size, disks, yes := 100, 2, true
	hints := &hostapi.RootDeviceHints{DeviceName: "/dev/sda"}
	hard := &hostapi.RAID{HardwareRAIDVolumes: []hostapi.HardwareRAIDVolume{
		{Level: "5", SizeGibibytes: &size, Name: "v", Rotational: &yes, NumberOfPhysicalDisks: &disks, Controller: "c",
			PhysicalDisks: []string{"1", "2"}}, {Level: "0"},
	}}
	soft := &hostapi.RAID{
		SoftwareRAIDVolumes: []hostapi.SoftwareRAIDVolume{
			{Level: "1", RootVolume: true, PhysicalDisks: []hostapi.RootDeviceHints{{DeviceName: "/dev/sda"}}},
		},
	}
	for _, c := range []struct {
		hints *hostapi.RootDeviceHints
		raid  *hostapi.RAID
		want  string
	}{
		{hints, hard,
			`{"logical_disks":[{"controller":"c","disk_type":"hdd","number_of_physical_disks":2,"physical_disks":["1","2"],"raid_level":"5","size_gb":100,"volume_name":"v"},{"raid_level":"0","size_gb":"MAX"}]}`},
		{nil, &hostapi.RAID{HardwareRAIDVolumes: hard.HardwareRAIDVolumes[1:]},
			`{"logical_disks":[{"is_root_volume":true,"raid_level":"0","size_gb":"MAX"}]}`},
		{nil, soft,
			`{"logical_disks":[{"controller":"software","is_root_volume":true,"physical_disks":[{"name":"s== /dev/sda"}],"raid_level":"1","size_gb":"MAX"}]}`},
		{hints, &hostapi.RAID{SoftwareRAIDVolumes: []hostapi.SoftwareRAIDVolume{}}, "null"},
		{hints, nil, "null"},
	} {
		got, _ := json.Marshal(RAIDConfig(c.hints, c.raid))
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	ipmiAccess, _ := AccessOf(hostapi.BMC{Address: "ipmi://10.0.0.1"})
	redfishAccess, _ := AccessOf(hostapi.BMC{Address: "redfish://10.0.0.1"})
	fakeAccess, _ := AccessOf(hostapi.BMC{Address: "fake://a"})
	none := &hostapi.RAID{HardwareRAIDVolumes: []hostapi.HardwareRAIDVolume{}}
	noSoft := &hostapi.RAID{SoftwareRAIDVolumes: []hostapi.SoftwareRAIDVolume{}}
	for _, c := range []struct {
		a          Access
		target, is *hostapi.RAID
		want       string
	}{
		{redfishAccess, nil, nil, ""},
		{redfishAccess, hard, nil, "raid.delete_configuration raid.create_configuration"},
		{redfishAccess, hard, hard, ""},
		{redfishAccess, none, hard, "raid.delete_configuration"},
		{redfishAccess, soft, nil, "raid.delete_configuration deploy.erase_devices_metadata raid.create_configuration"},
		{redfishAccess, soft, soft, ""},
		{redfishAccess, noSoft, soft, "raid.delete_configuration deploy.erase_devices_metadata"},
		{redfishAccess, noSoft, nil, ""},
		{ipmiAccess, soft, nil, "raid.delete_configuration deploy.erase_devices_metadata raid.create_configuration"},
		{ipmiAccess, hard, nil,
			"spec.raid.hardwareRAIDVolumes cannot be made through ipmi: use softwareRAIDVolumes, or a BMC that speaks Redfish"},
		{fakeAccess, soft, nil, "spec.raid.softwareRAIDVolumes cannot be made on fake: the agent makes them, and no agent " +
			"runs on such a machine"},
		{fakeAccess, noSoft, nil, ""},
	} {
		steps, err := c.a.RAIDSteps(c.target, c.is)
		var names []string
		for _, s := range steps {
			names = append(names, s.String())
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v from %+v: got %q, want %q", c.target, c.is, got, c.want)
		}
	}
}

const foundInventory = `{"interfaces":[
 {"name":"eth0","mac_address":"52:54:00:00:00:01","ipv4_address":"10.0.0.5","ipv6_address":"fd00::5",
 "vendor":"0x8086","product":"0x1533","speed_mbps":10000,"pci_address":"0000:01:00.0"},
 {"name":"eth1","mac_address":"52:54:00:00:00:02"}],
 "cpu":{"model_name":"Sky","frequency":"2399.9","count":8,"architecture":"x86_64","flags":["b","a"]},
 "memory":{"physical_mb":8192},
 "disks":[{"name":"/dev/sda","rotational":true,"size":10,"by_path":"/dev/disk/by-path/pci-1","serial":"s"}
 ,{"name":"/dev/nvme0n1","size":20},{"name":"/dev/vda","size":30}],
 "system_vendor":{"manufacturer":"Acme","product_name":"P","serial_number":"1","firmware":{"vendor":"F","version":"2","build_date":"today"}},"hostname":"h"}`

const foundBeside = `{"all_interfaces":{"eth0":{"pxe_enabled":true}},"parsed_lldp":{"eth0":{"switch_chassis_id":"sw","switch_port_id":"p1","switch_system_name":"s1","switch_port_untagged_vlan_id":101,"switch_port_vlans":[{"id":101,"name":"prov"}]}}}`

// TestHardware: an inventory as a document shows it, VLANs included.
func TestHardware(t *testing.T) {
	got, err := Hardware(&node.Inspected{Inventory: json.RawMessage(foundInventory),
		PluginData: json.RawMessage(foundBeside)})
	if err != nil {
		t.Fatal(err)
	}
	nic := hostapi.NIC{
		Name: "eth0", Model: "0x8086 0x1533", MAC: "52:54:00:00:00:01", IP: "10.0.0.5", SpeedGbps: 10, PXE: true,
		PCIAddress: "0000:01:00.0",
		VLANs:      []hostapi.VLAN{{ID: 101, Name: "prov"}}, VLANID: 101,
		LLDP: &hostapi.LLDP{SwitchID: "sw", PortID: "p1", SwitchSystemName: "s1"},
	}
	six := nic
	six.IP = "fd00::5"
	want := &hostapi.Hardware{
		SystemVendor: hostapi.SystemVendor{Manufacturer: "Acme", ProductName: "P", SerialNumber: "1"},
		Firmware:     hostapi.HardwareFirmware{BIOS: hostapi.BIOS{Vendor: "F", Version: "2", Date: "today"}},
		RAMMebibytes: 8192, Hostname: "h",
		CPU: hostapi.CPU{Arch: "x86_64", Model: "Sky", ClockMegahertz: 2400, Flags: []string{"a", "b"}, Count: 8},
		NIC: []hostapi.NIC{nic, six, {Name: "eth1", MAC: "52:54:00:00:00:02"}},
		Storage: []hostapi.Storage{
			{Name: "/dev/disk/by-path/pci-1", AlternateNames: []string{"/dev/sda", "/dev/disk/by-path/pci-1"}, Rotational: true,
				Type: "HDD", SizeBytes: 10, SerialNumber: "s"},
			{Name: "/dev/nvme0n1", AlternateNames: []string{"/dev/nvme0n1"}, Type: "NVME", SizeBytes: 20},
			{Name: "/dev/vda", AlternateNames: []string{"/dev/vda"}, Type: "SSD", SizeBytes: 30},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := Hardware(&node.Inspected{Inventory: json.RawMessage(`[]`)}); err == nil {
		t.Error("a list is taken for an inventory")
	}
}

func FuzzHardware(f *testing.F) {
	f.Add([]byte(foundInventory), []byte(foundBeside))
	f.Add([]byte(`{"cpu":{"frequency":"NaN"}}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, inventory, beside []byte) {
		h, err := Hardware(&node.Inspected{Inventory: inventory, PluginData: beside})
		if err != nil {
			return
		}
		if _, err := json.Marshal(h); err != nil {
			t.Errorf("what was found cannot be told: %v", err)
		}
	})
}
