package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// leaf is a secret of a record.
type leaf struct {
	pointer string // where it is in the document: a JSON pointer
	value   any    // decoded JSON
}

// The forms of a value among encoded leaves. Nearly all secrets are texts, and a node is
// read too often to have them parsed.
const (
	textLeaf = 's'
	jsonLeaf = 'j'
)

// encodeLeaves writes secrets in the order of their pointers: the length of the pointer,
// the pointer, the form, the length of the value, the value. Lengths are unsigned varints.
func encodeLeaves(leaves map[string]any) (plain []byte, err error) {
	for _, pointer := range slices.Sorted(maps.Keys(leaves)) {
		form, value := byte(textLeaf), []byte(nil)
		if text, ok := leaves[pointer].(string); ok {
			value = []byte(text)
		} else if form, value, err = marshalled(leaves[pointer]); err != nil {
			return nil, err
		}
		plain = append(binary.AppendUvarint(plain, uint64(len(pointer))), pointer...)
		plain = append(binary.AppendUvarint(append(plain, form), uint64(len(value))), value...)
	}
	return plain, nil
}

func marshalled(value any) (form byte, raw []byte, err error) {
	raw, err = json.Marshal(value)
	return jsonLeaf, raw, err
}

// errLeaves quotes no secret.
var errLeaves = errors.New("the decrypted bytes are no list of values")

// decodeLeaves is the reverse of encodeLeaves.
func decodeLeaves(plain []byte) (leaves []leaf, err error) {
	for len(plain) > 0 {
		pointer, rest, ok := cutSized(plain)
		if !ok || len(rest) == 0 {
			return nil, errLeaves
		}
		form := rest[0]
		value, rest, ok := cutSized(rest[1:])
		l := leaf{pointer: string(pointer)}
		switch {
		case ok && form == textLeaf:
			l.value = string(value)
		case ok && form == jsonLeaf && json.Unmarshal(value, &l.value) == nil:
		default:
			return nil, fmt.Errorf("%w: %.100q", errLeaves, l.pointer)
		}
		leaves, plain = append(leaves, l), rest
	}
	return leaves, nil
}

// cutSized takes bytes with their length before them.
func cutSized(b []byte) (part, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, nil, false
	}
	return b[size : size+int(n)], b[size+int(n):], true //nolint:gosec // n is no more than len(b)
}
