// Package lldp reads a switch's announcements about itself and the port of a machine. It reads LLDPDUs (IEEE
// 802.1AB-2016) off the wire, and ironic-python-agent's list of types and hexadecimal values, and gives their meaning
// under the names of Ironic's parse-lldp hook.
//
// Agent and conductor share it. It must not listen, and trusts no input: any host on the link may have sent it.
package lldp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
)

// EtherType is the one of LLDP.
const EtherType = 0x88cc

// Groups are the addresses LLDPDUs are sent to (802.1AB table 7-1): nearest
// bridge, nearest bridge that is not a two-port relay, nearest customer bridge.
func Groups() []net.HardwareAddr {
	return []net.HardwareAddr{
		{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e},
		{0x01, 0x80, 0xc2, 0x00, 0x00, 0x03},
		{0x01, 0x80, 0xc2, 0x00, 0x00, 0x00},
	}
}

// The types of TLVs (802.1AB table 8-1).
const (
	typeEnd           = 0
	typeChassisID     = 1
	typePortID        = 2
	typeTTL           = 3
	typePortDesc      = 4
	typeSystemName    = 5
	typeSystemDesc    = 6
	typeCapabilities  = 7
	typeMgmtAddress   = 8
	typeOrganization  = 127
	maxValue          = 511 // nine bits of length
	addressesAndType  = 14
	vlanTag           = 4
	etherTypeCustomer = 0x8100 // 802.1Q
)

// TLV is one statement of an LLDPDU.
type TLV struct {
	Type  int
	Value []byte
}

// Frame reads an Ethernet frame with an LLDPDU. It refuses a frame that names no chassis or no port, and a farewell
// (time to live 0), which describes nothing. An error that comes with TLVs names the place of the damage: these TLVs
// come before it.
func Frame(b []byte) ([]TLV, error) {
	if len(b) < addressesAndType {
		return nil, fmt.Errorf("LLDP: frame of %d bytes, expected at least %d", len(b), addressesAndType)
	}
	kind := binary.BigEndian.Uint16(b[12:])
	if kind == etherTypeCustomer && len(b) >= addressesAndType+vlanTag { // some switches send it with a priority
		b = b[vlanTag:]
		kind = binary.BigEndian.Uint16(b[12:])
	}
	if kind != EtherType {
		return nil, fmt.Errorf("LLDP: Ethernet type %#04x, expected %#04x", kind, EtherType)
	}
	return split(b[addressesAndType:])
}

// split takes an LLDPDU apart, to its end TLV or, where a sender has left that
// out, to the end of the frame. The three TLVs that must come first (802.1AB 8.2) may
// be in any order, and the time to live may be missing.
func split(b []byte) (tlvs []TLV, damage error) {
	first := map[int][]byte{}
	for len(b) >= 2 && damage == nil {
		header := binary.BigEndian.Uint16(b)
		t := TLV{Type: int(header >> 9)}
		length := int(header & maxValue)
		if len(b) < 2+length {
			damage = fmt.Errorf("LLDP: TLV %d of type %d has %d bytes, of which %d came", len(tlvs)+1, t.Type,
				length, len(b)-2)
			break
		}
		t.Value, b = b[2:2+length], b[2+length:]
		tlvs = append(tlvs, t)
		if _, seen := first[t.Type]; !seen {
			first[t.Type] = t.Value
		}
		if t.Type == typeEnd {
			break
		}
	}
	if first[typeChassisID] == nil || first[typePortID] == nil {
		return nil, errors.Join(errors.New("LLDP: the frame lacks the TLV of the chassis or of the port"), damage)
	}
	if ttl, said := first[typeTTL]; said && len(ttl) >= 2 && binary.BigEndian.Uint16(ttl) == 0 {
		return nil, errors.New("LLDP: a farewell")
	}
	return tlvs, damage
}

// Wire is the form TLVs have in inspection data: [type, "hex"].
func Wire(tlvs []TLV) [][]any {
	out := [][]any{}
	for _, t := range tlvs {
		out = append(out, []any{t.Type, hex.EncodeToString(t.Value)})
	}
	return out
}

// FromWire reads inspection data. An entry that is not as Wire makes it is left
// out; the errors say which.
func FromWire(list [][]any) (tlvs []TLV, problems []error) {
	for i, entry := range list {
		t, err := fromWire(entry)
		if err != nil {
			problems = append(problems, fmt.Errorf("LLDP: entry %d: %w", i, err))
			continue
		}
		tlvs = append(tlvs, t)
	}
	return tlvs, problems
}

func fromWire(entry []any) (TLV, error) {
	if len(entry) != 2 {
		return TLV{}, fmt.Errorf("has %d elements, expected type and value", len(entry))
	}
	kind, ok := entry[0].(float64) // as JSON has numbers
	if n, is := entry[0].(int); is {
		kind, ok = float64(n), true
	}
	if !ok || kind != float64(int(kind)) || kind < 0 || kind > typeOrganization {
		return TLV{}, fmt.Errorf("type %.40v is no number from 0 to %d", entry[0], typeOrganization)
	}
	text, ok := entry[1].(string)
	if !ok || len(text) > 2*maxValue {
		return TLV{}, fmt.Errorf("the value is no text of at most %d hexadecimal digits", 2*maxValue)
	}
	value, err := hex.DecodeString(text)
	if err != nil {
		return TLV{}, fmt.Errorf("the value is not hexadecimal: %w", err)
	}
	return TLV{Type: int(kind), Value: value}, nil
}
