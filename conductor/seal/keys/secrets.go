package keys

import (
	"bytes"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// SecretsFile is the name of the secrets' key in the data folder.
const SecretsFile = "secrets-key.pem"

// SecretsSize is the length of the secrets' key, for AES-256, in bytes.
const SecretsSize = 32

// secretsBlock is the type of its PEM block.
const secretsBlock = "FERRITE SECRETS KEY"

// OpenSecrets reads the key that secrets are sealed with, and makes it when a
// data folder has none. It refuses a file that others than its owner may read: a
// copy of the database is to be of no use without the key.
func OpenSecrets(dir string) ([]byte, error) {
	keys, err := Secrets(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return generateSecrets(dir)
	}
	if err != nil {
		return nil, err
	}
	return keys[0], nil
}

// Secrets reads all keys of secrets. The newest comes first, and seals. There are two while a rotation is under way.
// Secrets makes no key: it returns fs.ErrNotExist.
func Secrets(dir string) ([][]byte, error) {
	path := filepath.Join(dir, SecretsFile)
	text, err := readFile(path,
		"chmod 600 it if no other user has read it; else change the passwords that it protects, and rotate it")
	if err != nil {
		return nil, fmt.Errorf("key of secrets: %w", err)
	}
	var keys [][]byte
	for len(bytes.TrimSpace(text)) > 0 || len(keys) == 0 {
		var b *pem.Block
		if b, text = pem.Decode(text); b == nil || b.Type != secretsBlock || len(b.Bytes) != SecretsSize {
			return nil, fmt.Errorf("key of secrets: %s: expected a %s of %d bytes in PEM; restore it from a backup; if it is "+
				"lost, move it away and start once with --init: the passwords and tokens in the database are lost with it",
				path, secretsBlock, SecretsSize)
		}
		keys = append(keys, b.Bytes)
	}
	return keys, nil
}

// generateSecrets makes a key and writes it.
func generateSecrets(dir string) ([]byte, error) {
	key := newSecretsKey()
	if err := writeSecrets(dir, key); err != nil {
		return nil, fmt.Errorf("make the key of secrets: %w", err)
	}
	return key, nil
}

// AddSecrets puts a new key before the old one in the file. The old key still opens the values that it sealed. A crash
// leaves the file as it was, or with both keys.
func AddSecrets(dir string) error {
	keys, err := Secrets(dir)
	if err != nil {
		return err
	}
	if err := writeSecrets(dir, append([][]byte{newSecretsKey()}, keys...)...); err != nil {
		return fmt.Errorf("add a key of secrets: %w", err)
	}
	return nil
}

// DropOldSecrets leaves only the newest key in the file. Nothing may be sealed with the
// others any more.
func DropOldSecrets(dir string) error {
	keys, err := Secrets(dir)
	if err != nil || len(keys) == 1 {
		return err
	}
	if err := writeSecrets(dir, keys[0]); err != nil {
		return fmt.Errorf("drop the old key of secrets: %w", err)
	}
	return nil
}

func newSecretsKey() []byte {
	key := make([]byte, SecretsSize)
	rand.Read(key) // never fails
	return key
}

func writeSecrets(dir string, keys ...[]byte) error {
	return WriteFile(filepath.Join(dir, SecretsFile), SecretsText(keys...))
}

// SecretsText is the content of the file with some keys of SecretsSize bytes.
func SecretsText(keys ...[]byte) (text []byte) {
	for _, key := range keys {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: secretsBlock, Bytes: key})...)
	}
	return text
}
