package ramdisk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/u-root/mkuimage/cpio"
)

// microcodes are the files that the kernel looks for in an uncompressed archive in front of all others, before it
// knows any file system (Documentation/arch/x86/microcode.rst), and the files of Debian's packages that they are made
// of: one for each family or model of processors, each with a head of its own.
var microcodes = []struct {
	path   string
	folder string // below lib/firmware
	files  *regexp.Regexp
}{
	{"kernel/x86/microcode/GenuineIntel.bin", "intel-ucode",
		regexp.MustCompile(`^[0-9a-f]{2}(-[0-9a-f]{2}){2}(\.initramfs)?$`)},
	{"kernel/x86/microcode/AuthenticAMD.bin", "amd-ucode", regexp.MustCompile(`^microcode_amd.*\.bin$`)},
}

// earlyAlignment is the alignment of the archive behind the microcode's, as in other builders.
const earlyAlignment = 512

// earlyArchive is the uncompressed archive with microcode of both makers of processors; empty if no folder has any.
func earlyArchive(folders []*firmwareFolder) ([]byte, error) {
	var files []cpio.Record
	for _, m := range microcodes {
		var text bytes.Buffer
		for _, folder := range folders {
			if err := folder.appendFiles(&text, m.folder, m.files); err != nil {
				return nil, fmt.Errorf("microcode: %w", err)
			}
		}
		if text.Len() > 0 {
			files = append(files, cpio.StaticFile(m.path, text.String(), 0o644))
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	var archive bytes.Buffer
	writer := cpio.Newc.Writer(&archive)
	folder := func(path string) cpio.Record { return cpio.Directory(path, 0o755) }
	records := []cpio.Record{folder("kernel"), folder("kernel/x86"), folder("kernel/x86/microcode")}
	for _, r := range append(records, files...) {
		if err := writer.WriteRecord(cpio.MakeReproducible(r)); err != nil {
			return nil, fmt.Errorf("pack microcode: %w", err)
		}
	}
	if err := cpio.WriteTrailer(writer); err != nil {
		return nil, fmt.Errorf("pack microcode: %w", err)
	}
	archive.Write(make([]byte, (earlyAlignment-archive.Len()%earlyAlignment)%earlyAlignment))
	return archive.Bytes(), nil
}

// appendFiles appends the content of a folder's files, by name.
func (d *firmwareFolder) appendFiles(w io.Writer, below string, names *regexp.Regexp) error {
	entries, err := os.ReadDir(filepath.Join(d.dir, below))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !names.MatchString(entry.Name()) {
			continue
		}
		text, err := readPacked(filepath.Join(d.dir, below, entry.Name()))
		if err != nil {
			return err
		}
		d.used = true
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}
