package lldp

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tlv writes one.
func tlv(kind int, value string) string {
	return string(binary.BigEndian.AppendUint16(nil, uint16(kind)<<9|uint16(len(value)))) + value
}

// org writes one of an organization.
func org(oui string, subtype byte, value string) string {
	return tlv(typeOrganization, oui+string([]byte{subtype})+value)
}

const (
	ethernet = "\x01\x80\xc2\x00\x00\x0e" + "\x02\x00\x00\x00\x00\x01" + "\x88\xcc"
	chassis  = "\x02\x07\x04\x02\x00\x00\x00\x00\x01"
	port     = "\x04\x09\x05Eth1/13\x00"
	alive    = "\x06\x02\x00\x78"
)

// rack is an LLDPDU as a switch of a rack sends it, with nearly everything.
func rack() string {
	return ethernet + chassis + port + alive +
		tlv(typePortDesc, "to the lab") + tlv(typeSystemName, "leaf1.example.org\x00") + tlv(typeSystemDesc, "Some OS 1.2") +
		tlv(typeCapabilities, "\x00\x14\x00\x04") +
		tlv(typeMgmtAddress, "\x05\x01\x0a\x00\x00\x01\x02\x00\x00\x00\x07\x00") +
		tlv(typeMgmtAddress, "\x11\x02\x20\x01\x0d\xb8"+strings.Repeat("\x00", 11)+"\x01\x02\x00\x00\x00\x07\x00") +
		org(ieee8021, 1, "\x00\x65") + org(ieee8021, 2, "\x06\x00\x02") +
		org(ieee8021, 3, "\x00\x65\x04prov") + org(ieee8021, 3, "\x00\xc8\x00") + org(ieee8021, 4, "\x02\x88\xcc") +
		org(ieee8021, 6, "\x00\x0a") + org(ieee8021, 7, "\x03\x00\x00\x00\x09") +
		org(ieee8023, 1, "\x03\x6c\x01\x00\x1e") + org(ieee8023, 3, "\x00\x00\x00\x00\x01") + org(ieee8023, 4, "\x24\x00") +
		org("\x00\x01\x42", 1, "\x01") + tlv(9, "reserved") + tlv(typeEnd, "") + strings.Repeat("\x00", 20)
}

func TestRead(t *testing.T) {
	tlvs, err := Frame([]byte(rack()))
	if err != nil {
		t.Fatal(err)
	}
	got, problems := Read(tlvs)
	if problems != nil {
		t.Error(problems)
	}
	want := Neighbor{
		"switch_chassis_id": "02:00:00:00:00:01", "switch_port_id": "Eth1/13", "switch_port_description": "to the lab",
		"switch_system_name": "leaf1.example.org", "switch_system_description": "Some OS 1.2",
		"switch_capabilities_support": []any{"Bridge", "Router"}, "switch_capabilities_enabled": []any{"Bridge"},
		"switch_mgmt_addresses": []any{"10.0.0.1", "2001:db8::1"}, "switch_port_untagged_vlan_id": 101,
		"switch_port_protocol_vlan_enabled": true, "switch_port_protocol_vlan_support": true,
		"switch_port_protocol_vlan_ids": []any{2},
		"switch_port_vlans": []any{map[string]any{"id": 101, "name": "prov"},
			map[string]any{"id": 200, "name": ""}},
		"switch_protocol_identities": []any{"88cc"}, "switch_port_management_vlan_id": 10,
		"switch_port_link_aggregation_enabled": true, "switch_port_link_aggregation_support": true,
		"switch_port_link_aggregation_id":     9,
		"switch_port_autonegotiation_enabled": true, "switch_port_autonegotiation_support": true,
		"switch_port_physical_capabilities": []any{"1000BASE-T fdx", "100BASE-TX fdx", "100BASE-TX hdx", "10BASE-T fdx",
			"10BASE-T hdx"},
		"switch_port_mau_type": "1000BASE-T full duplex", "switch_port_mtu": 9216,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	link := map[string]string{"switch_id": "02:00:00:00:00:01", "port_id": "Eth1/13", "switch_info": "leaf1.example.org"}
	if diff := cmp.Diff(link, Link(tlvs)); diff != "" {
		t.Error(diff)
	}
}

func TestIdentities(t *testing.T) {
	for _, tc := range []struct {
		kind  int
		value string
		want  string // "" when it cannot be read
	}{
		{typeChassisID, "\x07rack 7", "rack 7"},
		{typeChassisID, "\x05\x01\x0a\x01\x02\x03", "10.1.2.3"},
		{typeChassisID, "\x05\x02\xfe\x80" + strings.Repeat("\x00", 13) + "\x09", "fe80::9"},
		{typeChassisID, "\x04\x02\x00\x00\x00", ""},
		{typeChassisID, "\x08what", ""},
		{typeChassisID, "\x05\x01\x0a\x01", ""},
		{typeChassisID, "\x07\xff\xfe", "ÿþ"},
		{typeChassisID, "\x07B\xfcro-1", "Büro-1"},
		{typeChassisID, "\x07\x00\x1c\x73\x00\x00\x01", "001c73000001"},
		{typeChassisID, "\x04" + "02:00:00:00:00:01", "02:00:00:00:00:01"},
		{typeChassisID, "\x07", ""},
		{typePortID, "\x03\x02\x00\x00\x00\x00\xaa", "02:00:00:00:00:aa"},
		{typePortID, "\x01uplink", "uplink"},
		{typePortID, "\x04\x06\x02\x00\x00\x00\x00\xab", "02:00:00:00:00:ab"},
		{typePortID, "\x06\x01\x02\x80", "010280"},
		{typePortID, "\x06Gi1/0/7", "Gi1/0/7"},
		{typePortID, "\x07\x00\x00\x02\x0a", "0000020a"},
		{typePortID, "\x05Eth1\x00\xff\xff", "Eth1"},
		{typePortID, "\x04", ""},
	} {
		n, problems := Read([]TLV{{tc.kind, []byte(tc.value)}})
		name := map[int]string{typeChassisID: "switch_chassis_id", typePortID: "switch_port_id"}[tc.kind]
		if got, _ := n[name].(string); got != tc.want || (tc.want == "") != (len(problems) == 1) {
			t.Errorf("%q: %q, %v; want %q", tc.value, got, problems, tc.want)
		}
	}
	if got := Link([]TLV{{typeChassisID, []byte("\x07rack 7")}, {typePortID, []byte("\x05e1")}}); len(got) != 1 ||
		got["port_id"] != "e1" {
		t.Errorf("a switch_id of a chassis without a MAC address: %v", got)
	}
}

func TestFrameRefuses(t *testing.T) {
	for name, frame := range map[string]string{
		"short":          ethernet[:13],
		"another type":   ethernet[:12] + "\x08\x00" + chassis + port + alive,
		"no port":        ethernet + chassis + alive + tlv(typeEnd, ""),
		"farewell":       ethernet + chassis + port + "\x06\x02\x00\x00",
		"nothing at all": ethernet,
	} {
		if tlvs, err := Frame([]byte(frame)); err == nil {
			t.Errorf("%s: %v", name, tlvs)
		}
	}
	tagged := ethernet[:12] + "\x81\x00\xe0\x00" + ethernet[12:] + chassis + port + alive
	if tlvs, err := Frame([]byte(tagged)); err != nil || len(tlvs) != 3 {
		t.Errorf("with a priority tag, without an end: %v, %v", tlvs, err)
	}
}

// TestOddFrames: readable parts of a damaged frame are taken, and the damage is named.
func TestOddFrames(t *testing.T) {
	for name, c := range map[string]struct {
		frame   string
		tlvs    int
		damaged bool
	}{
		"no TTL":         {chassis + port + tlv(typeEnd, ""), 3, false},
		"an empty TTL":   {chassis + port + tlv(typeTTL, "") + tlv(typeEnd, ""), 4, false},
		"port first":     {port + chassis + alive, 3, false},
		"cut off":        {chassis + port + alive + "\x0a\x20leaf", 3, true},
		"cut before TTL": {chassis + port + "\x06\x02\x00", 2, true},
	} {
		if tlvs, err := Frame([]byte(ethernet + c.frame)); len(tlvs) != c.tlvs || (err != nil) != c.damaged {
			t.Errorf("%s: %v, %v", name, tlvs, err)
		}
	}
}

// TestFramesOfTheField: facts of frames that others reported (chall32/LDWin#6, andkrau/LinkSkippy#1).
func TestFramesOfTheField(t *testing.T) {
	const ubiquiti, netgear = "\x04\xfc\xec\xda\x4e\x3f\xa4", "\x04\x2c\xb0\x5d\xa1\xac\xfd"
	for name, c := range map[string]struct {
		frame string
		want  map[string]string
	}{
		"no name, a management address with an OID": {
			tlv(typeChassisID, netgear) + tlv(typePortID, "\x07g1") + alive +
				tlv(typeMgmtAddress, "\x05\x01\xc0\xa8\x01\xfd\x02\x00\x00\x00\x0d\x08broadcom") +
				tlv(typeEnd, "") + strings.Repeat("\x00", 14),
			map[string]string{"switch_id": "2c:b0:5d:a1:ac:fd", "port_id": "g1"}},
		"LLDP-MED": {
			tlv(typeChassisID, ubiquiti) + tlv(typePortID, "\x07Port 7") + alive + tlv(typePortDesc, "DESKTOP") +
				tlv(typeSystemName, "switch-upstairs") + org(ieee8023, 1, "\x03\x00\x01\x00\x00") +
				org("\x00\x12\xbb", 1, "\x00\x33\x04") +
				tlv(typeEnd, ""),
			map[string]string{"switch_id": "fc:ec:da:4e:3f:a4", "port_id": "Port 7", "switch_info": "switch-upstairs"}},
		"a port named by its address, sonic-net/sonic-buildimage#1457": {
			tlv(typeChassisID, netgear) + tlv(typePortID, "\x03\x2c\xb0\x5d\xa1\xac\xfe") + alive +
				tlv(typePortDesc, "Ethernet104") + tlv(typeEnd, ""),
			map[string]string{"switch_id": "2c:b0:5d:a1:ac:fd", "port_id": "2c:b0:5d:a1:ac:fe"}},
		"a port named by its number, dainok/netdoc#116": {
			tlv(typeChassisID, netgear) + tlv(typePortID, "\x07136") + alive + tlv(typePortDesc, "1/E8") + tlv(typeEnd, ""),
			map[string]string{"switch_id": "2c:b0:5d:a1:ac:fd", "port_id": "136"}},
	} {
		tlvs, err := Frame([]byte(ethernet + c.frame))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, problems := Read(tlvs); problems != nil {
			t.Errorf("%s: %v", name, problems)
		}
		if diff := cmp.Diff(c.want, Link(tlvs)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestOddTLVs: each is read as far as it goes, and the others are not lost.
func TestOddTLVs(t *testing.T) {
	n, problems := Read([]TLV{
		{typeSystemName, []byte("B\xfcro")}, {typeSystemDesc, []byte("OS\x00\xff\xfe")}, {typePortDesc, []byte("\x81\x82")},
		{typeCapabilities, []byte("\x00\x14\x00\x04\x00")}, {typeOrganization, []byte("\x00\x80")},
		{typeOrganization, []byte(ieee8021 + "\x03\x00\x65\x04V\xe4th")},
		{typeMgmtAddress, []byte("\x05\x01\x0a")}, {typeMgmtAddress, []byte("\x05\x01\x0a\x00\x00\x01")},
	})
	want := Neighbor{"switch_system_name": "Büro", "switch_system_description": "OS",
		"switch_capabilities_support": []any{"Bridge", "Router"}, "switch_capabilities_enabled": []any{"Bridge"},
		"switch_port_vlans":     []any{map[string]any{"id": 101, "name": "Väth"}},
		"switch_mgmt_addresses": []any{"10.0.0.1"}}
	if diff := cmp.Diff(want, n); diff != "" || len(problems) != 3 {
		t.Error(diff, problems)
	}
}

func TestWire(t *testing.T) {
	tlvs, err := Frame([]byte(ethernet + chassis + port + alive + tlv(typeEnd, "")))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(Wire(tlvs))
	if err != nil {
		t.Fatal(err)
	}
	if want := `[[1,"04020000000001"],[2,"05457468312f313300"],[3,"0078"],[0,""]]`; string(raw) != want {
		t.Errorf("%s, want %s", raw, want)
	}
	var back [][]any
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	got, problems := FromWire(back)
	if diff := cmp.Diff(tlvs, got); diff != "" || problems != nil {
		t.Error(diff, problems)
	}
	_, problems = FromWire([][]any{{}, {1.0}, {1.5, ""}, {"1", ""}, {200.0, ""}, {1.0, 2.0}, {1.0, "xy"},
		{1.0, strings.Repeat("00", 512)}, {1.0, ""}})
	if len(problems) != 8 {
		t.Errorf("%d of 8 refused: %v", len(problems), problems)
	}
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte(rack()))
	f.Add([]byte(ethernet + chassis + port + alive))
	f.Add([]byte(ethernet[:12] + "\x81\x00\xe0\x00" + ethernet[12:] + chassis + port + alive))
	f.Add([]byte(ethernet + port + chassis + "\x0a\x20B\xfcro"))
	f.Fuzz(func(t *testing.T, b []byte) {
		tlvs, _ := Frame(b)
		n, _ := Read(tlvs)
		if _, err := json.Marshal(n); err != nil {
			t.Error(err)
		}
		back, problems := FromWire(Wire(tlvs))
		same := func(a, b TLV) bool { return a.Type == b.Type && string(a.Value) == string(b.Value) }
		if problems != nil || !slices.EqualFunc(tlvs, back, same) {
			t.Errorf("%v came back as %v, %v", tlvs, back, problems)
		}
		for key := range Link(tlvs) {
			if !slices.Contains([]string{"port_id", "switch_id", "switch_info"}, key) {
				t.Error(key)
			}
		}
	})
}
