package nodeapi

import "strconv"

// CleanJSON is valid JSON without the control characters of ASCII in its strings,
// tabs and line breaks excepted; raw itself when there are none. It serves reports
// that must not be lost for one bad string: firmware pads serial numbers with NUL.
func CleanJSON(raw []byte) []byte {
	var clean []byte // nil until something is left out
	from := 0
	for i := 0; i < len(raw); {
		n, drop := 1, raw[i] == 0x7f // JSON allows it between quotes alone
		if raw[i] == '\\' {
			n, drop = escape(raw[i:])
		}
		if drop {
			clean, from = append(clean, raw[from:i]...), i+n
		}
		i += n
	}
	if from == 0 {
		return raw
	}
	return append(clean, raw[from:]...)
}

// escape is the length of the escape sequence at the beginning of s (RFC 8259,
// section 7), and whether it stands for a control character that is left out.
func escape(s []byte) (n int, drop bool) {
	switch {
	case len(s) < 2:
		return len(s), false
	case s[1] == 'b', s[1] == 'f':
		return 2, true
	case s[1] != 'u' || len(s) < 6:
		return 2, false
	}
	c, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	return 6, err == nil && (c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f)
}
