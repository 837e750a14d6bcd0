// Package format is the file of a backup: a compressed tar of a conductor's records and files, with its keys sealed by
// a passphrase.
//
// It knows no database: bytes in, bytes out. The file has, in this order, a header, the sealed keys, the files, each
// after its sealed name and size, and the sealed sums of all files. So a wrong passphrase is noticed first, and a file
// that was cut off or changed last. A file of another size is refused before it is given out, since it could fill a
// disk.
package format

import (
	"archive/tar"
	"cmp"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/crypto/scrypt"
)

// Errors of Read.
var (
	ErrPassphrase = errors.New("the passphrase does not open it, or its keys were changed")
	ErrDamaged    = errors.New("the backup was cut off or changed")
)

// LeastPassphrase is how short a passphrase may be, in bytes: a thief of the file can try as many as there are.
const LeastPassphrase = 12

// version is the format that is written. Files of format 1 have no sealed sizes; the header, which the keys are sealed
// with, says which it is.
const version = 2

// The entries that are no file of a conductor.
const (
	headerName = "ferrite-backup.json"
	keysName   = "keys.sealed"
	nextName   = "next.sealed"
	sumsName   = "sums.sealed"
)

// Header identifies the data in a backup.
type Header struct {
	Format  int       `json:"format"`
	Release string    `json:"release"` // of the program that made it
	Taken   time.Time `json:"taken"`
	Schema  int64     `json:"schema"` // version of the database's
	KDF     kdf       `json:"scrypt"`
}

// kdf is how the key is derived (RFC 7914).
type kdf struct {
	N    int    `json:"n"`
	R    int    `json:"r"`
	P    int    `json:"p"`
	Salt []byte `json:"salt"`
}

// Deriving the key takes 128 MiB and less than a second.
const scryptN, scryptR, scryptP = 1 << 17, 8, 1

// The most that a file may ask of its reader: 256 MiB to derive the key.
const (
	mostN     = 1 << 18
	mostSmall = 1 << 20  // bytes of header and keys
	mostSums  = 64 << 20 // bytes of the sums: some 125 for each file
)

func (k kdf) aead(passphrase string) (cipher.AEAD, error) {
	if k.N < 1<<14 || k.N > mostN || k.R != scryptR || k.P != scryptP || len(k.Salt) < 16 {
		return nil, fmt.Errorf("scrypt with n %d, r %d, p %d, a salt of %d bytes: expected n from 16384 to %d, 8, 1, 16", k.N,
			k.R, k.P, len(k.Salt), mostN)
	}
	key, err := scrypt.Key([]byte(passphrase), k.Salt, k.N, k.R, k.P, chacha20poly1305.KeySize)
	if err != nil {
		return nil, err
	}
	return chacha20poly1305.NewX(key)
}

// announced is the file that comes next.
type announced struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// Writer writes a backup.
type Writer struct {
	packed *zstd.Encoder
	tar    *tar.Writer
	at     time.Time
	header []byte
	aead   cipher.AEAD
	sums   map[string]string
}

// NewWriter begins a backup; keys are files by name. The header may name the n of scrypt, which is scryptN else.
func NewWriter(w io.Writer, h Header, passphrase string, keys map[string][]byte) (*Writer, error) {
	if len(passphrase) < LeastPassphrase {
		return nil, fmt.Errorf("the passphrase has %d bytes: expected %d or more", len(passphrase), LeastPassphrase)
	}
	h.Format, h.KDF = version, kdf{N: cmp.Or(h.KDF.N, scryptN), R: scryptR, P: scryptP, Salt: make([]byte, 32)}
	rand.Read(h.KDF.Salt) // never fails
	aead, err := h.KDF.aead(passphrase)
	if err != nil {
		return nil, err
	}
	packed, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	b := &Writer{packed: packed, tar: tar.NewWriter(packed), at: h.Taken, aead: aead, sums: map[string]string{}}
	if b.header, err = json.Marshal(h); err != nil {
		return nil, err
	}
	if err := b.small(headerName, b.header); err != nil {
		return nil, err
	}
	return b, b.sealed(keysName, keys)
}

// Add adds a file by its path in the data folder.
func (b *Writer) Add(name string, size int64, r io.Reader) error {
	if err := checkName(name); err != nil {
		return err
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: size, ModTime: b.at}
	err := b.sealed(nextName, announced{name, size})
	if err == nil {
		err = b.tar.WriteHeader(h)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	sum := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(b.tar, sum), r, size); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	b.sums[name] = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// Close ends the backup. Without it the file is refused.
func (b *Writer) Close() error {
	if err := b.sealed(sumsName, b.sums); err != nil {
		return err
	}
	return errors.Join(b.tar.Close(), b.packed.Close())
}

// sealed adds JSON that only the passphrase opens, and that belongs to this header.
func (b *Writer) sealed(name string, what any) error {
	plain, err := json.Marshal(what)
	if err != nil {
		return err
	}
	nonce := make([]byte, b.aead.NonceSize())
	rand.Read(nonce) // never fails
	return b.small(name, b.aead.Seal(nonce, nonce, plain, additional(name, b.header)))
}

func (b *Writer) small(name string, text []byte) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(text)), ModTime: b.at}
	if err := b.tar.WriteHeader(h); err != nil {
		return err
	}
	_, err := b.tar.Write(text)
	return err
}

// additional is the additional data of the seal: the entry's name and the backup's header.
func additional(name string, header []byte) []byte { return append([]byte(name+"\x00"), header...) }

// checkName refuses paths that lead out of the folder.
func checkName(name string) error {
	if !filepath.IsLocal(name) || filepath.Clean(name) != name || strings.ContainsAny(name, "\\\x00") {
		return fmt.Errorf("%q is not the path of a file in a data folder; %w", name, ErrDamaged)
	}
	return nil
}
