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
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is the key's name in the data folder.
const File = "secrets-key.pem"

// Size is the number of its bytes, those of an AES-256 key.
const Size = 32

// block is what PEM calls it.
const block = "FERRITE SECRETS KEY"

// maxFile bounds what is read of a file that is said to be a key.
const maxFile = 64 << 10

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
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("key of secrets: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("key of secrets: %w", err)
	}
	if mode := info.Mode(); !mode.IsRegular() || mode.Perm()&0o077 != 0 {
		return nil, fmt.Errorf("key of secrets: %s has the mode %s, expected a file of which others may do nothing: "+
			"chmod 600 it if nobody has read it; else change the credentials that hosts' secrets hold", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
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

// generate makes a key and puts it where a crash leaves all of it or nothing.
func generate(path string) ([]byte, error) {
	key := make([]byte, Size)
	rand.Read(key) // never fails
	if err := put(path, pem.EncodeToMemory(&pem.Block{Type: block, Bytes: key})); err != nil {
		return nil, fmt.Errorf("make the key of secrets: %w", err)
	}
	return key, nil
}

func put(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), File+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // gone when all went well
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path)) // a rename survives a loss of power with its folder
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
