package disk

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// GUID is a GUID as stored on disk: the first three fields are little endian
// (UEFI specification, appendix A).
type GUID [16]byte

// Partition types that matter to us (UEFI specification table 5-7; the
// others by their makers).
const (
	typeESP       = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"
	typeBIOSBoot  = "21686148-6449-6e6f-744e-656564454649"
	typeLinuxRAID = "a19d880f-05fc-4d3b-a006-743f0f84911e"
	typeLinuxData = "0fc63daf-8483-4772-8e79-3d69d8477de4"
	typeLinuxSwap = "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f"
	typeGPFS      = "37affc90-ef7d-4e96-91c3-2d7ae055b174"
	typeVMFS      = "aa31e02a-400f-11db-9590-000c2911d1b8"
)

// String is the usual lower-case form.
func (g GUID) String() string {
	le := binary.LittleEndian
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x", le.Uint32(g[:]), le.Uint16(g[4:]), le.Uint16(g[6:]), g[8:10], g[10:])
}

// IsZero reports whether it is the type of an unused entry.
func (g GUID) IsZero() bool { return g == GUID{} }

// ParseGUID reads the usual form.
func ParseGUID(s string) (GUID, error) {
	var g GUID
	b, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil || len(b) != 16 || len(s) != 36 {
		return g, fmt.Errorf("GUID %q: expected the form 01234567-89ab-cdef-0123-456789abcdef", s)
	}
	copy(g[:], b)
	g[0], g[1], g[2], g[3] = b[3], b[2], b[1], b[0]
	g[4], g[5], g[6], g[7] = b[5], b[4], b[7], b[6]
	return g, nil
}

// newGUID makes a random GUID, version 4 (RFC 9562), from random's bytes.
func newGUID(random io.Reader) (GUID, error) {
	var g GUID
	if _, err := io.ReadFull(random, g[:]); err != nil {
		return g, fmt.Errorf("make a GUID: %w", err)
	}
	g[7] = g[7]&0x0f | 0x40
	g[8] = g[8]&0x3f | 0x80
	return g, nil
}
