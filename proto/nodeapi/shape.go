package nodeapi

import "fmt"

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
