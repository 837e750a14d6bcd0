package lldp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// chassisMAC is the subtype of a chassis identity that is a MAC address.
const chassisMAC = 4

// chassisIDs is how the subtypes of a chassis identity are written (802.1AB
// table 8-2).
func chassisIDs() map[byte]func([]byte) (string, error) {
	return map[byte]func([]byte) (string, error){
		1: text, 2: text, 3: text, chassisMAC: macAddress, 5: networkAddress, 6: text, 7: text,
	}
}

// portIDs is the same for a port (table 8-3). An agent circuit ID (6) is bytes
// that mean nothing to anybody else.
func portIDs() map[byte]func([]byte) (string, error) {
	return map[byte]func([]byte) (string, error){
		1: text, 2: text, 3: macAddress, 4: networkAddress, 5: text, 7: text,
	}
}

// identity reads who a chassis or a port is.
func identity(name string, forms map[byte]func([]byte) (string, error)) func(Neighbor, []byte) error {
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
			n.say(name, id)
		}
		return err
	}
}

func macAddress(b []byte) (string, error) {
	if len(b) != 6 {
		return "", fmt.Errorf("a MAC address of %d bytes", len(b))
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
	n, _ := Read(tlvs) // what cannot be read is not there
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
