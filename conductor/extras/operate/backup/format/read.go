package format

import (
	"archive/tar"
	"bytes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/klauspost/compress/zstd"
)

// Contents are the parts of a backup beside its files.
type Contents struct {
	Header Header
	Keys   map[string][]byte
}

// ReadHeader reads the header of a backup. It needs no passphrase, so the header is not authenticated.
func ReadHeader(r io.Reader) (Header, error) {
	b, end, err := open(r)
	if err != nil {
		return Header{}, err
	}
	defer end()
	return b.header, nil
}

// Read reads a backup. each gets every file, with all of its bytes. If Read fails, all files that each got must be
// discarded.
func Read(
	r io.Reader, passphrase string, each func(name string, size int64, r io.Reader) error,
) (c Contents, err error) {
	b, end, err := open(r)
	if err != nil {
		return c, err
	}
	defer end()
	c.Header = b.header
	if b.aead, err = c.Header.KDF.aead(passphrase); err != nil {
		return c, fmt.Errorf("%w; %w", err, ErrDamaged)
	}
	h, err := b.next()
	if err != nil {
		return c, err
	}
	if h.Name != keysName {
		return c, fmt.Errorf("expected %s, found %q; %w", keysName, h.Name, ErrDamaged)
	}
	if err := b.opened(h, &c.Keys); err != nil {
		return c, err
	}
	return c, b.files(each)
}

// reader is a backup after its header.
type reader struct {
	tar    *tar.Reader
	header Header
	raw    []byte
	aead   cipher.AEAD
}

func open(r io.Reader) (b *reader, end func(), err error) {
	plain, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			plain.Close()
		}
	}()
	b = &reader{tar: tar.NewReader(plain)}
	h, err := b.next()
	if err != nil || h.Name != headerName {
		return nil, nil, errors.Join(fmt.Errorf("it is no backup of ferrite: expected %s in it", headerName), err)
	}
	if b.raw, err = b.small(h); err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(b.raw, &b.header); err != nil {
		return nil, nil, fmt.Errorf("%s: %w; %w", headerName, err, ErrDamaged)
	}
	if b.header.Format < 1 || b.header.Format > version {
		return nil, nil, fmt.Errorf("the backup has format %d, and this build knows 1 to %d: use the ferrite that made it, "+
			"release %s", b.header.Format, version, b.header.Release)
	}
	return b, plain.Close, nil
}

// files gives out all files, and compares them with the sums at the end.
func (b *reader) files(each func(name string, size int64, r io.Reader) error) error {
	found := map[string]string{}
	for {
		h, err := b.next()
		if err != nil {
			return err
		}
		if h.Name == sumsName {
			var sums map[string]string
			if err := b.opened(h, &sums); err != nil {
				return err
			}
			if !maps.Equal(sums, found) {
				return fmt.Errorf("its files are not those that were saved; %w", ErrDamaged)
			}
			return nil
		}
		if b.header.Format > 1 {
			if h, err = b.announced(h); err != nil {
				return err
			}
		}
		if err := checkName(h.Name); err != nil {
			return err
		}
		if _, twice := found[h.Name]; twice {
			return fmt.Errorf("%s is there twice; %w", h.Name, ErrDamaged)
		}
		sum := sha256.New()
		err = each(h.Name, h.Size, io.TeeReader(b.tar, sum))
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			err = errors.Join(err, ErrDamaged)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
		found[h.Name] = hex.EncodeToString(sum.Sum(nil))
	}
}

// announced reads the entry that announces a file, and goes on to the file.
func (b *reader) announced(h *tar.Header) (*tar.Header, error) {
	var file announced
	if h.Name != nextName {
		return nil, fmt.Errorf("%q comes without its size; %w", h.Name, ErrDamaged)
	}
	if err := b.opened(h, &file); err != nil {
		return nil, err
	}
	h, err := b.next()
	if err == nil && (h.Name != file.Name || h.Size != file.Size) {
		err = fmt.Errorf("%q has %d bytes, expected %q with %d; %w", h.Name, h.Size, file.Name, file.Size, ErrDamaged)
	}
	return h, err
}

func (b *reader) next() (*tar.Header, error) {
	h, err := b.tar.Next()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w; %w", err, ErrDamaged)
	case h.Typeflag != tar.TypeReg:
		return nil, fmt.Errorf("%q is not a file; %w", h.Name, ErrDamaged)
	}
	return h, nil
}

func (b *reader) small(h *tar.Header) ([]byte, error) {
	most := int64(mostSmall)
	if h.Name == sumsName {
		most = mostSums
	}
	if h.Size > most {
		return nil, fmt.Errorf("%s has %d bytes, expected %d at most; %w", h.Name, h.Size, most, ErrDamaged)
	}
	var text bytes.Buffer
	if _, err := io.Copy(&text, b.tar); err != nil {
		return nil, fmt.Errorf("%s: %w; %w", h.Name, err, ErrDamaged)
	}
	return text.Bytes(), nil
}

// opened reads a sealed entry.
func (b *reader) opened(h *tar.Header, into any) error {
	text, err := b.small(h)
	if err != nil {
		return err
	}
	n := b.aead.NonceSize()
	if len(text) < n {
		return fmt.Errorf("%s: %w", h.Name, ErrDamaged)
	}
	plain, err := b.aead.Open(nil, text[:n], text[n:], additional(h.Name, b.raw))
	if err != nil {
		return ErrPassphrase
	}
	return json.Unmarshal(plain, into)
}
