package keys

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// EraseReportFile is the name of the erase reports' key in the data folder.
const EraseReportFile = "erase-key.pem"

// OpenEraseReport reads the key that erase reports are signed with, and makes it
// when a data folder has none. It refuses a file that others than its owner may
// read: they could sign too.
func OpenEraseReport(dir string) (ed25519.PrivateKey, error) {
	path := filepath.Join(dir, EraseReportFile)
	key, err := readEraseReport(path)
	if errors.Is(err, fs.ErrNotExist) {
		return generateEraseReport(path)
	}
	return key, err
}

// readEraseReport reads an existing key.
func readEraseReport(path string) (ed25519.PrivateKey, error) {
	text, err := readFile(path, "chmod 600 it if no other user has read it; else move it away, and a new one is made")
	if err != nil {
		return nil, fmt.Errorf("key of erase reports: %w", err)
	}
	key, err := parseEd25519(text)
	if err != nil {
		return nil, fmt.Errorf("key of erase reports: %s: %w; restore it from a backup, "+
			"or move it away and a new one is made", path, err)
	}
	return key, nil
}

// parseEd25519 reads PKCS #8 in PEM. Its errors never quote the text.
func parseEd25519(text []byte) (ed25519.PrivateKey, error) {
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

// generateEraseReport makes a key and writes it.
func generateEraseReport(path string) (key ed25519.PrivateKey, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("make the key of erase reports: %w", err)
		}
	}()
	if _, key, err = ed25519.GenerateKey(rand.Reader); err != nil {
		return nil, err
	}
	text, err := EraseReportText(key)
	if err != nil {
		return nil, err
	}
	return key, WriteFile(path, text)
}

// EraseReportText is the content of the file with a key.
func EraseReportText(key ed25519.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}
