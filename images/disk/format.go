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

// headSize is the number of bytes that Detect needs.
const headSize = 4096

// signature is a format known by fixed bytes near the image's start.
type signature struct {
	name   string
	offset int
	magic  []byte
	format Format // empty: known, but not written by us
}

// signatures are looked at in order. Formats that are refused are listed too:
// writing their container as if it were a raw disk would report success.
func signatures() []signature {
	return []signature{
		{"qcow2", 0, []byte("QFI\xfb"), QCOW2},
		{"gz", 0, []byte{0x1f, 0x8b, 0x08}, Gzip},
		{"zst", 0, []byte{0x28, 0xb5, 0x2f, 0xfd}, Zstd},
		{"xz", 0, []byte("\xfd7zXZ\x00"), XZ},
		{"bzip2", 0, []byte("BZh"), ""},
		{"lz4", 0, []byte{0x04, 0x22, 0x4d, 0x18}, ""},
		{"zip", 0, []byte("PK\x03\x04"), ""},
		{"7z", 0, []byte("7z\xbc\xaf\x27\x1c"), ""},
		{"vmdk", 0, []byte("KDMV"), ""},
		{"vmdk", 0, []byte("COWD"), ""},
		{"vmdk", 0, []byte("# Disk DescriptorFile"), ""},
		{"vhdx", 0, []byte("vhdxfile"), ""},
		{"vhd", 0, []byte("conectix"), ""},
		{"vdi", 64, []byte{0x7f, 0x10, 0xda, 0xbe}, ""},
		{"qed", 0, []byte("QED\x00"), ""},
		{"parallels", 0, []byte("WithoutFreeSpace"), ""},
		{"parallels", 0, []byte("WithouFreSpacExt"), ""},
		{"luks", 0, []byte("LUKS\xba\xbe"), ""},
		{"tar", 257, []byte("ustar"), ""},
		{"html page", 0, []byte("<!DOCTYPE"), ""},
		{"html page", 0, []byte("<html"), ""},
	}
}

// Detect finds an image's format by its first bytes (4 KiB are enough). An image
// without a known signature is raw. A known format that Write does not support is an
// error wrapping ErrFormat.
func Detect(head []byte) (Format, error) {
	if isSkippableZstd(head) {
		return Zstd, nil
	}
	for _, s := range signatures() {
		end := s.offset + len(s.magic)
		if len(head) < end || !bytes.Equal(head[s.offset:end], s.magic) {
			continue
		}
		if s.format == "" {
			return "", fmt.Errorf("%w: it is %s; convert it to raw or qcow2, or compress a raw image with gz, zst or xz",
				ErrFormat, s.name)
		}
		return s.format, nil
	}
	return Raw, nil
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
	f, err := Detect(head)
	if err != nil {
		return "", err
	}
	if !slices.Contains(allowed, f) {
		return "", fmt.Errorf("%w: disk_format says %s but its first bytes are those of %s", ErrFormat, hint, f)
	}
	return f, nil
}
