package lldp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Neighbor is a switch's description, under the names that Ironic's parse-lldp hook uses (switch_chassis_id,
// switch_port_vlans...); a missing name was not announced. Values are strings, numbers, booleans, and lists of
// strings, numbers or {"id", "name"} of VLANs.
type Neighbor map[string]any

// kind identifies a TLV: TLVs of organizations have a subtype.
type kind struct {
	oui           string // "" for the basic set
	kind, subtype int
}

// The organizations with known TLVs.
const (
	ieee8021 = "\x00\x80\xc2"
	ieee8023 = "\x00\x12\x0f"
)

// errShort means that a value ends too early.
var errShort = errors.New("value too short")

// readers is how each TLV is read into a neighbor.
func readers() map[kind]func(Neighbor, []byte) error {
	org := func(oui string, subtype int) kind { return kind{oui, typeOrganization, subtype} }
	return map[kind]func(Neighbor, []byte) error{
		{kind: typeChassisID}:    identity("switch_chassis_id", chassisIDs()),
		{kind: typePortID}:       identity("switch_port_id", portIDs()),
		{kind: typePortDesc}:     words("switch_port_description"),
		{kind: typeSystemName}:   words("switch_system_name"),
		{kind: typeSystemDesc}:   words("switch_system_description"),
		{kind: typeCapabilities}: capabilities,
		{kind: typeMgmtAddress}:  mgmtAddress,
		org(ieee8021, 1):         number("switch_port_untagged_vlan_id"),
		org(ieee8021, 2):         protocolVLAN,
		org(ieee8021, 3):         vlanName,
		org(ieee8021, 4):         protocolIdentity,
		org(ieee8021, 6):         number("switch_port_management_vlan_id"),
		org(ieee8021, 7):         linkAggregation,
		org(ieee8023, 1):         macPHY,
		org(ieee8023, 3):         linkAggregation, // where it was before 802.1AX
		org(ieee8023, 4):         number("switch_port_mtu"),
	}
}

// Read gives the TLVs their meaning. The first of two equal TLVs counts. Unknown TLVs are
// skipped; unreadable ones too, with an error each.
func Read(tlvs []TLV) (Neighbor, []error) {
	n, by := Neighbor{}, readers()
	var problems []error
	for _, t := range tlvs {
		k, value := kind{kind: t.Type}, t.Value
		if t.Type == typeOrganization {
			if len(value) < 4 {
				problems = append(problems, fmt.Errorf("LLDP: TLV of an organization: %w", errShort))
				continue
			}
			k.oui, k.subtype, value = string(value[:3]), int(value[3]), value[4:]
		}
		read := by[k]
		if read == nil {
			continue
		}
		if err := read(n, value); err != nil {
			problems = append(problems, fmt.Errorf("LLDP: TLV type %d subtype %d: %w", t.Type, k.subtype, err))
		}
	}
	return n, problems
}

// say sets a value that is not set yet.
func (n Neighbor) say(name string, value any) {
	if _, said := n[name]; !said {
		n[name] = value
	}
}

// add notes one of several.
func (n Neighbor) add(name string, value any) {
	list, _ := n[name].([]any)
	n[name] = append(list, value)
}

// words reads a text.
func words(name string) func(Neighbor, []byte) error {
	return func(n Neighbor, b []byte) error {
		s, err := text(b)
		if err == nil {
			n.say(name, s)
		}
		return err
	}
}

// number reads two bytes.
func number(name string) func(Neighbor, []byte) error {
	return func(n Neighbor, b []byte) error {
		if len(b) < 2 {
			return errShort
		}
		n.say(name, int(binary.BigEndian.Uint16(b)))
		return nil
	}
}

// text is UTF-8, to its first zero byte: some switches end it as in C, with anything behind. Texts of other switches
// are ISO 8859-1, in which each byte is a letter but for two ranges of control characters.
func text(b []byte) (string, error) {
	b, _, _ = bytes.Cut(b, []byte{0})
	if utf8.Valid(b) {
		return string(b), nil
	}
	letters := make([]rune, len(b))
	for i, c := range b {
		letters[i] = rune(c)
		if c < ' ' && !strings.ContainsRune("\t\r\n", rune(c)) || c >= 0x7f && c < 0xa0 {
			return "", fmt.Errorf("% x is neither UTF-8 nor ISO 8859-1", b[:min(len(b), 16)])
		}
	}
	return string(letters), nil
}

// capabilities reads the neighbor's possible and its enabled roles (8.5.8).
func capabilities(n Neighbor, b []byte) error {
	if len(b) < 4 {
		return errShort
	}
	names := []string{"Repeater", "Bridge", "WLAN", "Router", "Telephone", "DOCSIS cable device", "Station only", "C-Vlan",
		"S-Vlan", "TPMR"}
	of := func(bits uint16) []any {
		list := []any{}
		for i, name := range names {
			if bits>>(i+1)&1 == 1 { // bit 0 is "other"
				list = append(list, name)
			}
		}
		return list
	}
	n.say("switch_capabilities_support", of(binary.BigEndian.Uint16(b)))
	n.say("switch_capabilities_enabled", of(binary.BigEndian.Uint16(b[2:])))
	return nil
}

// mgmtAddress reads where the switch is managed; there may be several (8.5.9).
func mgmtAddress(n Neighbor, b []byte) error {
	if len(b) < 1 || len(b) < 1+int(b[0]) {
		return errShort
	}
	a, err := networkAddress(b[1 : 1+int(b[0])])
	if err == nil {
		n.add("switch_mgmt_addresses", a)
	}
	return err
}

// protocolVLAN reads a port and protocol VLAN (802.1Q D.2.2).
func protocolVLAN(n Neighbor, b []byte) error {
	if len(b) < 3 {
		return errShort
	}
	n.say("switch_port_protocol_vlan_enabled", b[0]&4 != 0)
	n.say("switch_port_protocol_vlan_support", b[0]&2 != 0)
	n.add("switch_port_protocol_vlan_ids", int(binary.BigEndian.Uint16(b[1:])))
	return nil
}

// vlanName reads one VLAN of the port (802.1Q D.2.3).
func vlanName(n Neighbor, b []byte) error {
	if len(b) < 3 || len(b) < 3+int(b[2]) {
		return errShort
	}
	name, err := text(b[3 : 3+int(b[2])])
	if err == nil {
		n.add("switch_port_vlans", map[string]any{"id": int(binary.BigEndian.Uint16(b)), "name": name})
	}
	return err
}

// protocolIdentity reads a protocol the port takes part in (802.1Q D.2.4).
func protocolIdentity(n Neighbor, b []byte) error {
	if len(b) < 1 || len(b) < 1+int(b[0]) {
		return errShort
	}
	n.add("switch_protocol_identities", hex.EncodeToString(b[1:1+int(b[0])]))
	return nil
}

// linkAggregation reads whether the port is one of several taken together
// (802.1AX F.2, formerly 802.3 79.3.3).
func linkAggregation(n Neighbor, b []byte) error {
	if len(b) < 5 {
		return errShort
	}
	n.say("switch_port_link_aggregation_enabled", b[0]&2 != 0)
	n.say("switch_port_link_aggregation_support", b[0]&1 != 0)
	n.say("switch_port_link_aggregation_id", int(binary.BigEndian.Uint32(b[1:])))
	return nil
}

// macPHY reads how the port negotiates (802.3 79.3.1). A kind of medium younger
// than the table leaves only its own name out.
func macPHY(n Neighbor, b []byte) error {
	if len(b) < 5 {
		return errShort
	}
	n.say("switch_port_autonegotiation_enabled", b[0]&2 != 0)
	n.say("switch_port_autonegotiation_support", b[0]&1 != 0)
	able := []any{}
	bits := binary.BigEndian.Uint16(b[1:])
	names := abilities()
	for i, name := range names {
		if bits>>(len(names)-1-i)&1 == 1 {
			able = append(able, name)
		}
	}
	slices.SortFunc(able, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	n.say("switch_port_physical_capabilities", able)
	if mau := int(binary.BigEndian.Uint16(b[3:])); mau < len(media()) {
		n.say("switch_port_mau_type", media()[mau])
	}
	return nil
}
