package nodeapi

import (
	"encoding/json"
	"fmt"
)

// peerDepth is how deep the JSON of another program may nest.
const peerDepth = 64

// DecodePeer decodes the JSON of another program, which may be hostile, once its shape was looked at: it may have so
// many values and keys. More of them are an error before anything is decoded.
func DecodePeer(raw []byte, values int, into any) error {
	if err := CheckShape(raw, peerDepth, values); err != nil {
		return fmt.Errorf("it is JSON of %w", err)
	}
	return json.Unmarshal(raw, into)
}

// CheckShape says why the JSON in raw would cost too much to decode: it nests
// deeper than depth levels, or has more than values values and keys. It is asked
// before decoding, which spends stack on every level and, on a value of two
// bytes as "{}", hundreds of bytes of memory.
func CheckShape(raw []byte, depth, values int) error {
	level, seen := 0, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if level++; level > depth {
				return fmt.Errorf("nested deeper than %d levels", depth)
			}
			seen++
		case '}', ']':
			level--
		case ',', ':':
			seen++
		}
		if seen > values {
			return fmt.Errorf("more than %d values", values)
		}
	}
	return nil
}
