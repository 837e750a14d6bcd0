// Package iso composes ISO 9660 images (ECMA-119) with Rock Ridge names for Linux and Joliet names for Windows. An
// image is composed as it is read: it holds its directories, and reads the content of files from where they are. The
// same input gives the same bytes.
//
// An image can be bootable by El Torito (version 1.0), for BIOS and for UEFI, and from a disk or USB stick, by a boot
// sector and a partition table in its first sector.
//
// The writer is our own. The library that was tried, diskfs/go-diskfs, writes to a file only, and does not give the
// same bytes twice: a machine that is deployed again would get another config drive, and an image that is read in
// parts would have to be stored. See docs/decisions/0002-config-drive-writer.md.
//
// The package is pure but for the readers that it is given. It must not know the purpose of the files.
package iso

import (
	"bytes"
	"errors"
	"io"
)

// SectorSize of ISO 9660, bytes.
const SectorSize = 2048

// ErrInvalid is wrapped by the error for every volume that cannot be made.
var ErrInvalid = errors.New("ISO 9660 image")

// Content is the first Size bytes of At.
type Content struct {
	At   io.ReaderAt
	Size int64
}

// Bytes is content in memory.
func Bytes(b []byte) Content { return Content{At: bytes.NewReader(b), Size: int64(len(b))} }

// Text is content in memory.
func Text(s string) Content { return Bytes([]byte(s)) }
