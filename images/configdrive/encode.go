package configdrive

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
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
// MaxSize bytes. Anything else would be a partition nobody can read.
func Decode(s string) ([]byte, error) {
	// A decoder that skips white space: people paste the output of base64(1).
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(s)))
	if err != nil {
		return nil, fmt.Errorf("%w: expected base64 of gzip: %w", ErrInvalid, err)
	}
	image, err := io.ReadAll(io.LimitReader(z, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("%w: expected base64 of gzip: %w", ErrInvalid, err)
	}
	if len(image) > MaxSize {
		return nil, tooLarge(len(image))
	}
	if !isISO(image) && !isFAT(image) {
		return nil, fmt.Errorf("%w: the %d bytes inside are neither ISO 9660 nor VFAT", ErrInvalid, len(image))
	}
	return image, nil
}

// tooLarge words the one limit.
func tooLarge(n int) error {
	return fmt.Errorf("%w: it has %d bytes or more, at most %d are allowed", ErrInvalid, n, MaxSize)
}

// isISO looks for the primary volume descriptor.
func isISO(b []byte) bool {
	return len(b) >= 17*sectorSize && bytes.Equal(b[16*sectorSize:][:6], []byte("\x01CD001"))
}

// isFAT looks for a boot sector that says it is FAT.
func isFAT(b []byte) bool {
	return len(b) >= 512 && b[510] == 0x55 && b[511] == 0xaa &&
		(bytes.HasPrefix(b[54:], []byte("FAT1")) || bytes.HasPrefix(b[82:], []byte("FAT32")))
}
