package disk

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
)

// pathText is a device path in text (UEFI specification section 10.6). The nodes
// HD(...) and File(...) have their names, others are Path(type,subtype,data). A
// truncated node ends the text.
func pathText(b []byte) string {
	var nodes []string
	for len(b) >= 4 {
		kind, sub, size := b[0], b[1], int(binary.LittleEndian.Uint16(b[2:]))
		if kind == nodeEnd || size < 4 || size > len(b) {
			break
		}
		nodes = append(nodes, nodeText(kind, sub, b[4:size]))
		b = b[size:]
	}
	return strings.Join(nodes, "/")
}

// nodeText is one node.
func nodeText(kind, sub byte, data []byte) string {
	le := binary.LittleEndian
	switch {
	case kind == nodeMedia && sub == nodeHD && len(data) >= 38:
		const gpt = 2 // the kind of signature
		scheme, signature := "MBR", fmt.Sprintf("0x%08x", le.Uint32(data[20:]))
		if data[37] == gpt {
			scheme, signature = "GPT", GUID(data[20:36]).String()
		}
		return fmt.Sprintf("HD(%d,%s,%s,%#x,%#x)", le.Uint32(data), scheme, signature, le.Uint64(data[4:]),
			le.Uint64(data[12:]))
	case kind == nodeMedia && sub == nodeFile:
		var units []uint16
		for ; len(data) >= 2 && le.Uint16(data) != 0; data = data[2:] {
			units = append(units, le.Uint16(data))
		}
		return "File(" + string(utf16.Decode(units)) + ")"
	}
	return fmt.Sprintf("Path(%d,%d,%x)", kind, sub, data)
}
