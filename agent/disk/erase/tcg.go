package erase

import "encoding/binary"

// TCG Storage: level 0 discovery reports whether a drive encrypts itself, and is
// locked (TCG Storage Architecture Core, section 3.3.6).
const (
	tcgProtocol  = 0x01
	tcgDiscovery = 0x0001 // ComID
	tcgHeader    = 48
	tcgLocking   = 0x0002 // feature code
	tcgSize      = 2048
)

// parseDiscovery reports whether a level 0 discovery says that parts of the drive are
// locked. An invalid discovery, or one without a locking feature, locks nothing.
func parseDiscovery(b []byte) (locked bool) {
	if len(b) < tcgHeader {
		return false
	}
	end := min(uint64(binary.BigEndian.Uint32(b))+4, uint64(len(b)))
	if end < tcgHeader {
		return false
	}
	for b = b[tcgHeader:end]; len(b) >= 4; {
		size := 4 + int(b[3])
		if binary.BigEndian.Uint16(b) == tcgLocking && len(b) > 4 && b[3] > 0 {
			const enabled, isLocked = 1 << 1, 1 << 2
			return b[4]&enabled != 0 && b[4]&isLocked != 0
		}
		b = b[min(size, len(b)):]
	}
	return false
}
