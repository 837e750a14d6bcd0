package node

import (
	"crypto/sha256"
	"encoding/hex"
)

// BootName names a boot of the ramdisk by the token it was given: 16 hexadecimal
// digits. Each boot has another token, so an agent can neither invent boots nor write
// into another's log, and the conductor needs to remember nothing. The token does not
// follow from the name.
func BootName(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:8])
}
