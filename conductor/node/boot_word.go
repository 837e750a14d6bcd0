package node

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/netip"
)

// Caller is the identity that a ramdisk presents before it has a token.
type Caller struct {
	From netip.Addr
	// Word is the one-time token of its boot, or the token that it holds already;
	// "" for none.
	Word string
	Old  bool // an agent of ours from before boots had words
	// BootMode is how its machine was started, uefi or bios; "" of agents that do not say.
	BootMode string
}

// WordHash is the stored form of a boot's one-time token: its SHA-256 in hex.
func WordHash(word string) string {
	sum := sha256.Sum256([]byte(word))
	return hex.EncodeToString(sum[:])
}

// IsWord reports whether word is the one-time token of this boot.
func (a Agent) IsWord(word string) bool {
	return a.WordHash != "" && subtle.ConstantTimeCompare([]byte(a.WordHash), []byte(WordHash(word))) == 1
}
