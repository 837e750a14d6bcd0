// Package secretkey keeps the key that secrets are sealed with at rest: 32 random
// bytes in a file, made when there is none.
//
// It seals nothing itself.
package secretkey

import (
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/ferrite-metal/ferrite/conductor/keyfile"
)

// File is the key's name in the data folder.
const File = "secrets-key.pem"

// Size is the number of its bytes, those of an AES-256 key.
const Size = 32

// block is what PEM calls it.
const block = "FERRITE SECRETS KEY"

// Open reads the key of a data folder, which is made at first. It refuses a file
// that others than its owner may read: a copy of the database is of no use
// without it, and that is what it is for.
func Open(dir string) ([]byte, error) {
	path := filepath.Join(dir, File)
	key, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return generate(path)
	}
	return key, err
}

func read(path string) ([]byte, error) {
	text, err := keyfile.Read(path, "chmod 600 it if nobody has read it; else change the credentials that hosts' secrets hold")
	if err != nil {
		return nil, fmt.Errorf("key of secrets: %w", err)
	}
	b, _ := pem.Decode(text)
	if b == nil || b.Type != block || len(b.Bytes) != Size {
		return nil, fmt.Errorf("key of secrets: %s: expected a %s of %d bytes in PEM; restore it from a backup, "+
			"or move it away: a new one is made, and the secrets have to be applied again", path, block, Size)
	}
	return b.Bytes, nil
}

// generate makes a key and writes it.
func generate(path string) ([]byte, error) {
	key := make([]byte, Size)
	rand.Read(key) // never fails
	if err := keyfile.Write(path, pem.EncodeToMemory(&pem.Block{Type: block, Bytes: key})); err != nil {
		return nil, fmt.Errorf("make the key of secrets: %w", err)
	}
	return key, nil
}
