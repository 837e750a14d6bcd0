package lldp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/netip"
	"strings"
)

// Stated is an announcement of a switch as a BMC states it: LLDPReceive of a Redfish Port (DSP0268). Empty parts were
// not announced. The kinds are Redfish's words for the subtypes of identities (IEEE802IdSubtype).
type Stated struct {
	ChassisID, ChassisKind        string
	PortID, PortKind              string
	SystemName, SystemDescription string
	ManagementVLAN                int
}

// kinds are the subtypes of the identities of a chassis and of a port, by Redfish's words (802.1AB, tables 8-2 and
// 8-3).
var kinds = map[string]struct{ chassis, port byte }{
	"ChassisComp": {1, 7}, "IfAlias": {2, 1}, "PortComp": {3, 2}, "MacAddr": {chassisMAC, 3}, "NetworkAddr": {5, 4},
	"IfName": {6, 5}, "AgentId": {7, 6}, "LocalAssign": {7, 7},
}

// TLVs returns the announcement as it came on the wire; nil for one without a chassis or a port.
func (s Stated) TLVs() []TLV {
	chassis, port := stated(s.ChassisID, s.ChassisKind), stated(s.PortID, s.PortKind)
	if chassis == nil || port == nil {
		return nil
	}
	all := []TLV{
		{typeChassisID, append([]byte{kinds[chassis.kind].chassis}, chassis.value...)},
		{typePortID, append([]byte{kinds[port.kind].port}, port.value...)},
	}
	for _, text := range []TLV{{typeSystemName, []byte(s.SystemName)}, {typeSystemDesc, []byte(s.SystemDescription)}} {
		if len(text.Value) > 0 {
			all = append(all, TLV{text.Type, text.Value[:min(len(text.Value), maxValue)]})
		}
	}
	if vlan := s.ManagementVLAN; vlan > 0 && vlan < 4096 {
		all = append(all, TLV{typeOrganization, binary.BigEndian.AppendUint16([]byte{0x00, 0x80, 0xc2, 6}, uint16(vlan))})
	}
	return all
}

// identified is an identity in the form of the wire.
type identified struct {
	kind  string
	value []byte
}

// maxIdentity is the longest identity (802.1AB, 8.5.2.3).
const maxIdentity = 255

// stated reads an identity; nil for none. A MAC address is one without a kind, too. Redfish writes the bytes of a
// port's identity as octets with colons between, and most BMCs write them as text.
func stated(id, kind string) *identified {
	if id = strings.TrimSpace(id); id == "" || kind == "NotTransmitted" || id == "No Link" { // Dell's word for none
		return nil
	}
	mac, err := net.ParseMAC(id)
	if is := err == nil && len(mac) == 6; is && (kind == "" || kind == "MacAddr") {
		return &identified{"MacAddr", mac}
	}
	if a, err := netip.ParseAddr(id); err == nil && kind == "NetworkAddr" {
		family := byte(1)
		if a.Is6() {
			family = 2
		}
		return &identified{kind, append([]byte{family}, a.AsSlice()...)}
	}
	if _, known := kinds[kind]; !known || kind == "MacAddr" || kind == "NetworkAddr" {
		kind = "LocalAssign"
	}
	value := []byte(id)
	if octets, err := hex.DecodeString(strings.ReplaceAll(id, ":", "")); err == nil && len(octets) > 2 &&
		len(id) == 3*len(octets)-1 && !bytes.ContainsFunc(octets, func(r rune) bool { return r < ' ' || r > '~' }) {
		value = octets
	}
	return &identified{kind, value[:min(len(value), maxIdentity)]}
}
