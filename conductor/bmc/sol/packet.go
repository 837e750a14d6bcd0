package sol

// The status bits of a packet from the BMC (IPMI v2.0, table 15-2).
const (
	statusNACK         = 1 << 6
	statusDeactivating = 1 << 4
	statusOverrun      = 1 << 3
)

// header is the length of a packet without its characters, in bytes.
const header = 4

// MaxData is the most characters of one packet: the count of accepted ones is one byte.
const MaxData = 255

// Packet is one payload of serial over LAN (IPMI v2.0, table 15-2).
type Packet struct {
	Sequence uint8 // 1 to 15; 0: the packet is an acknowledgement alone
	Acked    uint8 // sequence number of the packet that this one acknowledges; 0: none
	Accepted uint8 // characters of it that were taken
	Status   uint8 // status from the BMC, operation to it
	Data     []byte
}

// Parse takes a payload apart. It returns false for a payload that is too short or too long.
func Parse(payload []byte) (Packet, bool) {
	if len(payload) < header || len(payload) > header+MaxData {
		return Packet{}, false
	}
	return Packet{payload[0] & 0xf, payload[1] & 0xf, payload[2], payload[3], payload[header:]}, true
}

// Bytes is the packet as it goes over the wire.
func (p Packet) Bytes() []byte {
	return append([]byte{p.Sequence & 0xf, p.Acked & 0xf, p.Accepted, p.Status}, p.Data...)
}
