package disk

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// Format is the format of an image.
type Format string

// The formats Write takes. Gzip, Zstd and XZ are streams around a raw image.
const (
	Raw   Format = "raw"
	QCOW2 Format = "qcow2"
	Gzip  Format = "gz"
	Zstd  Format = "zst"
	XZ    Format = "xz"
)

// ErrFormat is wrapped by the error for every image that is refused for its content:
// trying again does not help.
var ErrFormat = errors.New("image cannot be used")

// Detect finds an image's format by its first bytes (4 KiB are enough). An image
// without a known signature is raw. A known file that Write does not support is an
// error wrapping ErrFormat.
func Detect(head []byte) (Format, error) {
	found := Identify(head)
	if slices.Contains([]Format{Raw, QCOW2, Gzip, Zstd, XZ}, found.Format) {
		return found.Format, nil
	}
	return "", found.refused()
}

// isSkippableZstd recognises a zst stream that starts with a skippable frame (RFC 8878
// section 3.1.2), as parallel compressors write it.
func isSkippableZstd(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
}

// choose detects the format of head and checks it against hint, Ironic's
// disk_format. A raw image may come compressed; any other disagreement is
// refused, since a guest can write any header into its own raw disk.
func choose(head []byte, hint string) (Format, error) {
	allowed := map[string][]Format{
		"":      {Raw, QCOW2, Gzip, Zstd, XZ},
		"raw":   {Raw, Gzip, Zstd, XZ},
		"gpt":   {Raw, Gzip, Zstd, XZ},
		"qcow2": {QCOW2},
		"gz":    {Gzip},
		"zst":   {Zstd},
		"xz":    {XZ},
	}[hint]
	if allowed == nil {
		return "", fmt.Errorf("%w: disk_format %q is not one of raw, qcow2, gz, zst, xz", ErrFormat, hint)
	}
	f, err := Detect(head[:min(len(head), headSize)]) // an ISO is seen by more: see sink.begins
	if err != nil {
		return "", err
	}
	if !slices.Contains(allowed, f) {
		return "", fmt.Errorf("%w: disk_format says %s but its first bytes are %s", ErrFormat, hint, f)
	}
	return f, nil
}
