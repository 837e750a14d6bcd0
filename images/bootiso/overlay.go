package bootiso

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/u-root/u-root/pkg/cpio"
)

// overlayAlignment divides an archive's length: the kernel looks for the next one at multiples of 4.
const overlayAlignment = 512

// Overlay is a cpio archive (newc) with one file, for a ramdisk. It goes before the ramdisk, since
// only there its place is certain to be aligned.
func Overlay(file, text string) (string, error) {
	var out bytes.Buffer
	w := cpio.Newc.Writer(&out)
	var records []cpio.Record
	file = strings.TrimPrefix(path.Clean(file), "/")
	for i, c := range file {
		if c == '/' {
			records = append(records, cpio.Directory(file[:i], 0o755))
		}
	}
	records = append(records, cpio.StaticFile(file, text, 0o444))
	if err := cpio.WriteRecords(w, records); err != nil {
		return "", fmt.Errorf("write the archive: %w", err)
	}
	if err := cpio.WriteTrailer(w); err != nil {
		return "", fmt.Errorf("write the archive: %w", err)
	}
	return out.String() + strings.Repeat("\x00", -out.Len()&(overlayAlignment-1)), nil
}
