package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// KeySize is the length of a key in bytes: that of AES-256.
const KeySize = 32

// ID names a key: the begin of a SHA-256 of it, which does not reveal the key.
type ID [8]byte

// String is the id in hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// ParseID is the reverse of ID.String.
func ParseID(text string) (id ID, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(id) {
		return id, fmt.Errorf("the id of a key is %q, expected %d hexadecimal digits", text, 2*len(id))
	}
	return ID(raw), nil
}

// IDOf is the id of a key.
func IDOf(key []byte) ID {
	sum := sha256.Sum256(append([]byte("ferrite key id\x00"), key...))
	return ID(sum[:8])
}

// cipherFor is the cipher of one context.
func cipherFor(key []byte, context string) (cipher.AEAD, error) {
	own, err := hkdf.Expand(sha256.New, key, "ferrite seal\x00"+context, KeySize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(own)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// bareCipher is the cipher of OpenBare.
func bareCipher(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
