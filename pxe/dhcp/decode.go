package dhcp

import "github.com/insomniacslk/dhcp/dhcpv4"

// Where the fields of a message are (RFC 2131, section 2).
const (
	snameAt    = 44
	fileAt     = 108
	fileEnd    = 236
	headerSize = 240 // of the fixed fields and the magic cookie; options follow
)

const (
	optionPad  = 0
	optionEnd  = 255
	inFile     = 1 // bits of option 52: where options go on (RFC 2132, section 9.3)
	inSname    = 2
	overloadOf = 52
)

// decode reads a message as leniently as other servers do. Kea and dnsmasq take one without END, and leave out a last
// option that runs past the end; both look into the fields that option 52 names.
func decode(b []byte) (*dhcpv4.DHCPv4, error) { return dhcpv4.FromBytes(tidy(b)) }

// tidy brings the options of a message into one field, in the order of RFC 3396, section 5, with END behind them.
func tidy(b []byte) []byte {
	if len(b) < headerSize {
		return b
	}
	out, more := appendOptions(append(make([]byte, 0, len(b)+1), b[:headerSize]...), b[headerSize:])
	if more&inFile != 0 {
		out, _ = appendOptions(out, b[fileAt:fileEnd])
		clear(out[fileAt:fileEnd])
	}
	if more&inSname != 0 {
		out, _ = appendOptions(out, b[snameAt:fileAt])
		clear(out[snameAt:fileAt])
	}
	return append(out, optionEnd)
}

// appendOptions copies the whole options of a field, and returns the value of option 52.
func appendOptions(to, field []byte) (all []byte, overload byte) {
	for len(field) > 0 && field[0] != optionEnd {
		if field[0] == optionPad {
			field = field[1:]
			continue
		}
		if len(field) < 2 || len(field) < 2+int(field[1]) {
			break
		}
		one := field[:2+int(field[1])]
		field = field[len(one):]
		switch {
		case one[0] != overloadOf:
			to = append(to, one...)
		case len(one) == 3 && one[2] <= inFile|inSname:
			overload = one[2]
		}
	}
	return to, overload
}
