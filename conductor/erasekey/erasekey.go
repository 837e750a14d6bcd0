// Package erasekey keeps the key that erase reports are signed with: an Ed25519
// key in a file, made when there is none.
//
// It signs nothing itself, and tells nobody the private half.
package erasekey

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/ferrite-metal/ferrite/conductor/keyfile"
)

// File is the key's name in the data folder.
const File = "erase-key.pem"

// Open reads the key of a data folder, which is made at first. It refuses a file
// that others than its owner may read: they could sign too.
func Open(dir string) (ed25519.PrivateKey, error) {
	path := filepath.Join(dir, File)
	key, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return generate(path)
	}
	return key, err
}

func read(path string) (ed25519.PrivateKey, error) {
	text, err := keyfile.Read(path, "chmod 600 it if nobody has read it, else move it away, and a new one is made")
	if err != nil {
		return nil, fmt.Errorf("key of erase reports: %w", err)
	}
	key, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("key of erase reports: %s: %w; restore it from a backup, or move it away and a new one is made", path, err)
	}
	return key, nil
}

// parse never quotes what it was given.
func parse(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, errors.New("expected a private key in PEM (PKCS #8)")
	}
	any, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it is damaged: expected PKCS #8")
	}
	key, ok := any.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("expected an Ed25519 key, found a %T", any)
	}
	return key, nil
}

// generate makes a key and writes it.
func generate(path string) (key ed25519.PrivateKey, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("make the key of erase reports: %w", err)
		}
	}()
	if _, key, err = ed25519.GenerateKey(rand.Reader); err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, keyfile.Write(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}
