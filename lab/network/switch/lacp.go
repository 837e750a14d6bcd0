package netswitch

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// State is the state of one end of an aggregate's link (802.1AX-2020, 6.4.2.3).
type State uint8

// The bits of a State.
const (
	Active State = 1 << iota
	ShortTimeout
	Aggregation
	Synchronization
	Collecting
	Distributing
	Defaulted
	Expired
)

// End describes one end of a link, as LACP does.
type End struct {
	SystemPriority uint16
	System         [6]byte
	Key            uint16 // equal for ports that may be one aggregate
	PortPriority   uint16
	Port           uint16
	State          State
}

// PDU is a LACPDU: the sender's end, and the other as the sender knows it.
type PDU struct{ Actor, Partner End }

// Layout of a LACPDU behind the Ethernet header (802.1AX-2020, 6.4.2.3): subtype, version,
// and parts that begin with their type and length.
const (
	pduLen       = 110
	slowLACP     = 1
	lacpVersion  = 1
	partActor    = 1
	partPartner  = 2
	partCollect  = 3
	endLen       = 20 // of actor and partner
	collectorLen = 16
	actorAt      = 2
	partnerAt    = actorAt + endLen
	collectorAt  = partnerAt + endLen
)

// slowGroup is where slow protocols are sent to; bridges never forward it.
var slowGroup = mac{0x01, 0x80, 0xc2, 0x00, 0x00, 0x02}

// errNotLACP is for other slow protocols.
var errNotLACP = errors.New("not a LACPDU")

// ParsePDU reads the bytes after the Ethernet header. Later versions may add parts, so ParsePDU reads only the parts of
// the first version.
func ParsePDU(b []byte) (PDU, error) {
	switch {
	case len(b) < 2 || b[0] != slowLACP:
		return PDU{}, errNotLACP
	case len(b) < pduLen || b[1] < lacpVersion:
		return PDU{}, fmt.Errorf("LACPDU of %d bytes, version %d: expected %d bytes, version %d", len(b), b[1], pduLen,
			lacpVersion)
	case b[actorAt] != partActor || b[actorAt+1] != endLen, b[partnerAt] != partPartner || b[partnerAt+1] != endLen:
		return PDU{}, errors.New("LACPDU without actor and partner at their places")
	}
	return PDU{Actor: parseEnd(b[actorAt+2:]), Partner: parseEnd(b[partnerAt+2:])}, nil
}

func parseEnd(b []byte) End {
	u := binary.BigEndian.Uint16
	return End{SystemPriority: u(b), System: [6]byte(b[2:8]), Key: u(b[8:]), PortPriority: u(b[10:]), Port: u(b[12:]),
		State: State(b[14])}
}

// Frame is the PDU as an Ethernet frame from a port with that address.
func (p PDU) Frame(from [6]byte) []byte {
	b := append(append(make([]byte, 0, headerLen+pduLen), slowGroup[:]...), from[:]...)
	b = binary.BigEndian.AppendUint16(b, typeSlow)
	b = append(b, slowLACP, lacpVersion)
	b = p.Actor.append(append(b, partActor, endLen))
	b = p.Partner.append(append(b, partPartner, endLen))
	b = append(b, partCollect, collectorLen)
	return append(b, make([]byte, headerLen+pduLen-len(b))...) // a delay of nothing, the end, padding
}

func (e End) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, e.SystemPriority)
	b = append(b, e.System[:]...)
	for _, v := range []uint16{e.Key, e.PortPriority, e.Port} {
		b = binary.BigEndian.AppendUint16(b, v)
	}
	return append(b, byte(e.State), 0, 0, 0)
}

// same reports whether two ends are the same, apart from their state.
func (e End) same(o End) bool {
	e.State, o.State = 0, 0
	return e == o
}
