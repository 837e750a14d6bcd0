package configdrive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ferrite-metal/ferrite/images/iso"
)

// Encode turns an image into Ironic's string form: base64 of gzip. The gzip
// header carries no time, so that the same image gives the same string.
func Encode(image []byte) (string, error) {
	if len(image) > MaxSize {
		return "", tooLarge(len(image))
	}
	var out strings.Builder
	b := base64.NewEncoder(base64.StdEncoding, &out)
	z := gzip.NewWriter(b)
	if _, err := z.Write(image); err != nil {
		return "", fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := errors.Join(z.Close(), b.Close()); err != nil {
		return "", fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return out.String(), nil
}

// Decode turns Ironic's string form into the image: ISO 9660 or VFAT of at most
// MaxSize bytes. It refuses any other content, which no operating system could mount.
// Base64 of an image that is not compressed is taken as well, and so is base64 with white
// space in it, as base64(1) and YAML break lines.
func Decode(s string) ([]byte, error) {
	var image bytes.Buffer
	if err := unpack(s, &image); err != nil {
		return nil, err
	}
	return image.Bytes(), nil
}

// Check validates Ironic's string form as Decode does, without holding the image:
// sixty kilobytes of gzip can hold MaxSize of zeros.
func Check(s string) error { return unpack(s, io.Discard) }

func unpack(s string, to io.Writer) error {
	if strings.ContainsAny(s, " \t") { // the decoder itself skips the ends of lines
		s = strings.Join(strings.Fields(s), "")
	}
	in := bufio.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(s)))
	from := io.Reader(in)
	if magic, err := in.Peek(2); err == nil && string(magic) == gzipMagic {
		if from, err = gzip.NewReader(in); err != nil {
			return notPacked(err)
		}
	}
	var start prefix
	n, err := io.Copy(io.MultiWriter(&start, to), io.LimitReader(from, MaxSize+1))
	if err != nil {
		return notPacked(err)
	}
	if n > MaxSize {
		return tooLarge(int(n))
	}
	if !isISO(start) && !isFAT(start) {
		return fmt.Errorf("%w: the %d bytes inside are neither ISO 9660 nor VFAT", ErrInvalid, n)
	}
	return nil
}

// Packed reports whether the string form holds gzip, as ironic-python-agent expects it, or the image itself.
func Packed(s string) bool {
	b := make([]byte, 2)
	_, err := io.ReadFull(base64.NewDecoder(base64.StdEncoding, strings.NewReader(strings.TrimSpace(s))), b)
	return err == nil && string(b) == gzipMagic
}

const gzipMagic = "\x1f\x8b"

func notPacked(err error) error {
	return fmt.Errorf("%w: expected base64 of a gzipped ISO 9660 or VFAT image: %w", ErrInvalid, err)
}

// prefix keeps the start of the bytes written to it: enough to detect the format.
type prefix []byte

func (p *prefix) Write(b []byte) (int, error) {
	room := 17*iso.SectorSize - len(*p)
	*p = append(*p, b[:min(room, len(b))]...)
	return len(b), nil
}

// tooLarge words the one limit.
func tooLarge(n int) error {
	return fmt.Errorf("%w: it has %d bytes or more, at most %d are allowed", ErrInvalid, n, MaxSize)
}

// isISO looks for the primary volume descriptor.
func isISO(b []byte) bool {
	return len(b) >= 17*iso.SectorSize && bytes.Equal(b[16*iso.SectorSize:][:6], []byte("\x01CD001"))
}

// isFAT looks for a boot sector that says it is FAT.
func isFAT(b []byte) bool {
	return len(b) >= 512 && b[510] == 0x55 && b[511] == 0xaa &&
		(bytes.HasPrefix(b[54:], []byte("FAT1")) || bytes.HasPrefix(b[82:], []byte("FAT32")))
}
