package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// KeySize is the length of a key for AES-256 in bytes.
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
	own := derive(key, context)
	block, err := aes.NewCipher(own[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// derive makes the key of a context: SHA-256 of a counter, the key and the context.
func derive(key []byte, context string) [KeySize]byte {
	text := make([]byte, 0, 160)
	text = append(text, 0, 0, 0, 1)
	text = append(text, key...)
	text = append(text, "ferrite seal\x00"...)
	return sha256.Sum256(append(text, context...))
}

// bareCipher is the cipher of OpenBare.
func bareCipher(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
