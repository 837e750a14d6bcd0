package keys

import (
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// SecretsFile is the name of the secrets' key in the data folder.
const SecretsFile = "secrets-key.pem"

// SecretsSize is the length of the secrets' key in bytes: that of AES-256.
const SecretsSize = 32

// secretsBlock is the type of its PEM block.
const secretsBlock = "FERRITE SECRETS KEY"

// OpenSecrets reads the key that secrets are sealed with, and makes it when a
// data folder has none. It refuses a file that others than its owner may read: a
// copy of the database is to be of no use without the key.
func OpenSecrets(dir string) ([]byte, error) {
	path := filepath.Join(dir, SecretsFile)
	key, err := readSecrets(path)
	if errors.Is(err, fs.ErrNotExist) {
		return generateSecrets(path)
	}
	return key, err
}

// readSecrets reads an existing key.
func readSecrets(path string) ([]byte, error) {
	text, err := readFile(path,
		"chmod 600 it if no other user has read it; else change the credentials that hosts' secrets hold")
	if err != nil {
		return nil, fmt.Errorf("key of secrets: %w", err)
	}
	b, _ := pem.Decode(text)
	if b == nil || b.Type != secretsBlock || len(b.Bytes) != SecretsSize {
		return nil, fmt.Errorf("key of secrets: %s: expected a %s of %d bytes in PEM; restore it from a backup, "+
			"or move it away: a new one is made, and the secrets have to be applied again", path, secretsBlock, SecretsSize)
	}
	return b.Bytes, nil
}

// generateSecrets makes a key and writes it.
func generateSecrets(path string) ([]byte, error) {
	key := make([]byte, SecretsSize)
	rand.Read(key) // never fails
	if err := WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: secretsBlock, Bytes: key})); err != nil {
		return nil, fmt.Errorf("make the key of secrets: %w", err)
	}
	return key, nil
}
