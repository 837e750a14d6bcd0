package lldp

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// chassisMAC is the subtype of a chassis identity that is a MAC address.
const chassisMAC = 4

// chassisIDs is how the subtypes of a chassis identity are written (802.1AB
// table 8-2).
func chassisIDs() map[byte]func([]byte) (string, error) {
	return map[byte]func([]byte) (string, error){
		1: name, 2: name, 3: name, chassisMAC: macAddress, 5: networkAddress, 6: name, 7: name,
	}
}

// portIDs is the same for a port (table 8-3).
func portIDs() map[byte]func([]byte) (string, error) {
	return map[byte]func([]byte) (string, error){
		1: name, 2: name, 3: macAddress, 4: networkAddress, 5: name, 6: name, 7: name,
	}
}

// identity reads the identity of a chassis or a port.
func identity(key string, forms map[byte]func([]byte) (string, error)) func(Neighbor, []byte) error {
	return func(n Neighbor, b []byte) error {
		if len(b) < 2 {
			return errShort
		}
		form := forms[b[0]]
		if form == nil {
			return fmt.Errorf("identity of an unknown kind %d", b[0])
		}
		id, err := form(b[1:])
		if err == nil {
			n.say(key, id)
		}
		return err
	}
}

// name is text, or bytes that are none as digits: switches write their number for a port,
// or a MAC address, where a text is allowed.
func name(b []byte) (string, error) {
	if s, err := text(b); err == nil && s != "" {
		return s, nil
	}
	return hex.EncodeToString(b), nil
}

// macAddress is six bytes, or text: some switches write it out.
func macAddress(b []byte) (string, error) {
	if len(b) != 6 {
		written, err := net.ParseMAC(strings.TrimRight(string(b), "\x00"))
		if err != nil {
			return "", fmt.Errorf("a MAC address of %d bytes", len(b))
		}
		b = written
	}
	return net.HardwareAddr(b).String(), nil
}

// networkAddress is an address behind the number of its family (IANA address
// family numbers: 1 IPv4, 2 IPv6, 6 MAC).
func networkAddress(b []byte) (string, error) {
	if len(b) < 1 {
		return "", errShort
	}
	family, b := b[0], b[1:]
	switch {
	case family == 6:
		return macAddress(b)
	case family == 1 && len(b) == 4, family == 2 && len(b) == 16:
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return "", errors.New("no IP address")
		}
		return a.String(), nil
	}
	return "", fmt.Errorf("an address of family %d with %d bytes", family, len(b))
}

// Link is the part of an LLDPDU by which a network controller finds the port's switch, in
// the form of local_link_connection: port_id, switch_id (only where the chassis is named by
// a MAC address, as Ironic has it) and switch_info (the switch's name).
func Link(tlvs []TLV) map[string]string {
	n, _ := Read(tlvs) // unreadable parts are absent
	link := map[string]string{}
	for from, to := range map[string]string{"switch_port_id": "port_id", "switch_chassis_id": "switch_id",
		"switch_system_name": "switch_info"} {
		if s, ok := n[from].(string); ok && s != "" {
			link[to] = s
		}
	}
	for _, t := range tlvs {
		if t.Type == typeChassisID && (len(t.Value) == 0 || t.Value[0] != chassisMAC) {
			delete(link, "switch_id")
		}
	}
	return link
}
