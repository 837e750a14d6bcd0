package netswitch

import "encoding/binary"

// Offsets and lengths of an Ethernet frame (802.3), and of a tag in it (802.1Q).
const (
	headerLen = 14
	tagLen    = 4
	typeVLAN  = 0x8100
	typeSlow  = 0x8809 // slow protocols, of which LACP is one
	maxVLAN   = 4094
)

// mac is a hardware address.
type mac [6]byte

func (m mac) group() bool { return m[0]&1 != 0 }

// frame holds the fields of a frame that a switch needs.
type frame struct {
	to, from mac
	tag      int // VLAN ID; 0: untagged, or tagged for its priority alone
	kind     uint16
	untagged []byte // the frame without its tag
}

// parse reads a frame. It returns false for a frame that is too short to be forwarded.
func parse(b []byte) (frame, bool) {
	if len(b) < headerLen {
		return frame{}, false
	}
	f := frame{to: mac(b[0:6]), from: mac(b[6:12]), kind: binary.BigEndian.Uint16(b[12:]), untagged: b}
	if f.kind != typeVLAN {
		return f, true
	}
	if len(b) < headerLen+tagLen {
		return frame{}, false
	}
	f.tag = int(binary.BigEndian.Uint16(b[14:]) & 0xfff)
	f.kind = binary.BigEndian.Uint16(b[16:])
	f.untagged = append(append(make([]byte, 0, len(b)-tagLen), b[:12]...), b[16:]...)
	return f, true
}

// tagged puts a tag into a frame that has none.
func tagged(b []byte, vlan int) []byte {
	out := append(make([]byte, 0, len(b)+tagLen), b[:12]...)
	out = binary.BigEndian.AppendUint16(out, typeVLAN)
	out = binary.BigEndian.AppendUint16(out, uint16(vlan)) //nolint:gosec // 1 to 4094
	return append(out, b[12:]...)
}
