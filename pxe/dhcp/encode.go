package dhcp

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

const (
	leastMessage = 576 // bytes of an IP datagram that every client takes (RFC 2131, section 2)
	leastPayload = 300 // RFC 951: some relays drop less
)

// needed are the options of a reply in the order of their need. A client that takes short messages gets of the others
// what room is left.
var needed = []uint8{53, 54, 51, 1, 60, 43, 67, 97, 61, 175, 3, 66, 6, 28}

// zeroEnded are options that old boot ROMs take for texts with a zero behind them (netbootxyz/netboot.xyz#1198,
// garybowers/bootimus#117): a pad follows.
var zeroEnded = []uint8{66, 67}

// messageSize is how long a reply to req may be (RFC 2132, section 9.10, which counts the headers before it). A client
// that names no size takes a frame: Kea answers so too.
func messageSize(req *dhcpv4.DHCPv4) int {
	size := maxPacket
	if v := req.Options.Get(dhcpv4.OptionMaximumDHCPMessageSize); len(v) == 2 {
		size = min(size, max(leastMessage, int(binary.BigEndian.Uint16(v))))
	}
	return size - ipv4Header - udpHeader
}

// field is a part of a message that holds options.
type field struct {
	at, room int
	bit      byte // of option 52
	options  dhcpv4.Options
}

// encode writes a reply of size bytes at most. Options that do not fit their field go on in the fields for names that
// are empty; shed lists those that fit nowhere. The relay takes its own option out, so that one does not count
// (RFC 3046, section 2.1).
func encode(p *dhcpv4.DHCPv4, size int) (b []byte, shed []uint8) {
	fields := []*field{{room: size - headerSize - 1}}
	if length(p.Options) > fields[0].room {
		fields[0].room -= 3 // option 52
		fields = append(fields, &field{at: snameAt, room: fileAt - snameAt - 1, bit: inSname})
		if p.BootFileName == "" {
			fields = append(fields, &field{at: fileAt, room: fileEnd - fileAt - 1, bit: inFile})
		}
	}
	shed = spread(p.Options, fields)
	head := *p
	head.Options = nil
	b = head.ToBytes()[:headerSize]
	var overload byte
	for _, f := range fields[1:] {
		if len(f.options) > 0 {
			copy(b[f.at:], append(options(f.options), optionEnd))
			overload |= f.bit
		}
	}
	if overload != 0 {
		fields[0].options[overloadOf] = []byte{overload}
	}
	b = append(append(b, options(fields[0].options)...), optionEnd)
	return append(b, make([]byte, max(0, leastPayload-len(b)))...), shed
}

// spread gives every option to the first field that has room for it.
func spread(all dhcpv4.Options, fields []*field) (shed []uint8) {
	order := append(slices.Clone(needed), slices.Sorted(maps.Keys(all))...)
	given := map[uint8]bool{}
	for _, code := range order {
		value, is := all[code]
		if !is || given[code] {
			continue
		}
		given[code] = true
		one := dhcpv4.Options{code: value}
		i := slices.IndexFunc(fields, func(f *field) bool { return length(one) <= f.room })
		if i < 0 {
			shed = append(shed, code)
			continue
		}
		f := fields[i]
		if f.options == nil {
			f.options = dhcpv4.Options{}
		}
		f.options[code] = value
		f.room -= length(one)
	}
	return shed
}

// length is the bytes of options that count for the size of a message.
func length(all dhcpv4.Options) (n int) {
	for code, value := range all {
		if code != dhcpv4.OptionRelayAgentInformation.Code() {
			n += len(options(dhcpv4.Options{code: value}))
		}
	}
	return n
}

// options writes options in the order of their codes, that of the relay last (RFC 3046).
func options(all dhcpv4.Options) (b []byte) {
	last := dhcpv4.OptionRelayAgentInformation.Code()
	codes := slices.SortedFunc(maps.Keys(all), func(x, y uint8) int {
		if (x == last) != (y == last) {
			return compare(x == last, y == last)
		}
		return int(x) - int(y)
	})
	for _, code := range codes {
		b = append(b, dhcpv4.Options{code: all[code]}.ToBytes()...)
		if slices.Contains(zeroEnded, code) {
			b = append(b, optionPad)
		}
	}
	return b
}

// bytesOf writes a reply to req, and warns of what its client had no room for.
func (c *complainer) bytesOf(req, reply *dhcpv4.DHCPv4) []byte {
	size := messageSize(req)
	b, shed := encode(reply, size)
	if len(shed) > 0 {
		c.complain("a machine takes no dhcp reply of the whole size, and gets one without these options", "mac",
			req.ClientHWAddr.String(), "bytes", size, "options", shed)
	}
	return b
}
