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
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is the key's name in the data folder.
const File = "erase-key.pem"

// maxFile bounds what is read of a file that is said to be a key.
const maxFile = 64 << 10

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
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("key of erase reports: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("key of erase reports: %w", err)
	}
	if mode := info.Mode(); !mode.IsRegular() || mode.Perm()&0o077 != 0 {
		return nil, fmt.Errorf("key of erase reports: %s has the mode %s, expected a file of which others may do nothing: "+
			"chmod 600 it if nobody has read it, else move it away, and a new one is made", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
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

// generate makes a key and puts it where a crash leaves all of it or nothing.
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
	f, err := os.CreateTemp(filepath.Dir(path), File+".*") // mode 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // gone when all went well
	_, err = f.Write(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return nil, err
	}
	return key, syncFolder(filepath.Dir(path))
}

// syncFolder makes a rename survive a loss of power.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
