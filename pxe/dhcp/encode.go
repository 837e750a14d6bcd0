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

// needed are the options of a reply in the order of their need. A client that takes short messages gets the others as
// far as they fit.
var needed = []uint8{53, 54, 51, 1, 60, 43, 67, 97, 61, 175, 3, 66, 6, 28}

// zeroEnded are options that old boot ROMs take for texts with a zero behind them (netbootxyz/netboot.xyz#1198,
// garybowers/bootimus#117): a pad follows.
var zeroEnded = []uint8{66, 67}

// relayed is the option of the relay.
const relayed = 82

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
	head := *p
	head.Options = nil
	b = head.ToBytes()[:headerSize]
	room := size - headerSize - 1
	all := options(p.Options)
	n := len(all)
	if value, is := p.Options[relayed]; is {
		n -= len(appendOption(nil, relayed, value))
	}
	if n <= room {
		return filled(append(b, all...)), nil
	}
	fields := []*field{{room: room - 3}, // without option 52
		{at: snameAt, room: fileAt - snameAt - 1, bit: inSname}}
	if p.BootFileName == "" {
		fields = append(fields, &field{at: fileAt, room: fileEnd - fileAt - 1, bit: inFile})
	}
	shed = spread(p.Options, fields)
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
	return filled(append(b, options(fields[0].options)...)), shed
}

// filled ends a message, and makes it as long as the least one.
func filled(b []byte) []byte {
	b = append(b, optionEnd)
	return append(b, make([]byte, max(0, leastPayload-len(b)))...)
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
		n := len(options(dhcpv4.Options{code: value}))
		if code == relayed {
			n = 0
		}
		i := slices.IndexFunc(fields, func(f *field) bool { return n <= f.room })
		if i < 0 {
			shed = append(shed, code)
			continue
		}
		f := fields[i]
		if f.options == nil {
			f.options = dhcpv4.Options{}
		}
		f.options[code] = value
		f.room -= n
	}
	return shed
}

// options writes options in the order of their codes, and the relay's last (RFC 3046).
func options(all dhcpv4.Options) []byte {
	codes, b := make([]uint8, 0, len(all)), make([]byte, 0, leastPayload)
	for code := range all {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	for _, code := range codes {
		if code != relayed {
			b = appendOption(b, code, all[code])
		}
	}
	if value, is := all[relayed]; is {
		b = appendOption(b, relayed, value)
	}
	return b
}

// appendOption writes an option, in several parts if it is long (RFC 3396).
func appendOption(b []byte, code uint8, value []byte) []byte {
	for first := true; first || len(value) > 0; first = false {
		n := min(len(value), 255)
		b = append(append(b, code, byte(n)), value[:n]...)
		value = value[n:]
	}
	if slices.Contains(zeroEnded, code) {
		b = append(b, optionPad)
	}
	return b
}

// bytesOf writes a reply to req, and warns of options that did not fit.
func (c *complainer) bytesOf(req, reply *dhcpv4.DHCPv4) []byte {
	size := messageSize(req)
	b, shed := encode(reply, size)
	if len(shed) > 0 {
		c.complain("a machine takes no dhcp reply of the whole size, and gets one without these options", "mac",
			req.ClientHWAddr.String(), "bytes", size, "options", shed)
	}
	return b
}
