package debian

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ProtonMail/go-crypto/openpgp"
)

// archiveKeys are the public keys that sign Debian 12 and 13, as debian-archive-keyring 2025.1 has them. Their
// fingerprints are published on https://ftp-master.debian.org/keys.html, and a test compares them.
//
//go:embed keys/*.asc
var archiveKeys embed.FS

// Keyring is the keys of an archive: its releases must be signed by one of them.
type Keyring struct {
	keys   openpgp.EntityList
	origin string // the keys in an error
}

// ArchiveKeyring is the keys of Debian 12 and 13.
func ArchiveKeyring() (Keyring, error) {
	ring := Keyring{origin: "the keys of Debian 12 and 13"}
	files, err := fs.Glob(archiveKeys, "keys/*.asc")
	if err != nil {
		return Keyring{}, err
	}
	for _, file := range files {
		text, err := archiveKeys.ReadFile(file)
		if err != nil {
			return Keyring{}, err
		}
		keys, err := openpgp.ReadArmoredKeyRing(bytes.NewReader(text))
		if err != nil {
			return Keyring{}, fmt.Errorf("%s: %w", file, err)
		}
		ring.keys = append(ring.keys, keys...)
	}
	return ring, nil
}

// ReadKeyring reads the public keys of another archive: a keyring as apt's option Signed-By takes it, armored or not.
func ReadKeyring(file string) (Keyring, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Keyring{}, fmt.Errorf("keyring: %w", err)
	}
	read := openpgp.ReadKeyRing
	if bytes.Contains(text, []byte("-----BEGIN PGP")) {
		read = openpgp.ReadArmoredKeyRing
	}
	keys, err := read(bytes.NewReader(text))
	if err == nil && len(keys) == 0 {
		err = errors.New("it has no key")
	}
	if err != nil {
		return Keyring{}, fmt.Errorf("keyring %s: expected OpenPGP public keys: %w", file, err)
	}
	return Keyring{keys: keys, origin: "the keys of " + file}, nil
}
