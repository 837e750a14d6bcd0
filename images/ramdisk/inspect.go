package ramdisk

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/u-root/mkuimage/cpio"
)

// Inspection lists the contents of a kernel or a ramdisk.
type Inspection struct {
	Size      int64           `json:"size"` // of the file, in bytes
	Kernel    string          `json:"kernel,omitempty"`
	Unpacked  int64           `json:"unpacked,omitempty"`  // of a ramdisk
	Releases  []string        `json:"releases,omitempty"`  // kernels that there are modules for
	Modules   []string        `json:"modules,omitempty"`   // names, sorted
	Firmware  []string        `json:"firmware,omitempty"`  // paths below lib/firmware
	Microcode []string        `json:"microcode,omitempty"` // makers of processors, as GenuineIntel
	Manifest  string          `json:"manifest,omitempty"`  // file beside it
	Packages  []string        `json:"packages,omitempty"`  // of the manifest: name and version
	Files     []InspectedFile `json:"files,omitempty"`     // in the order of the archive
}

// InspectedFile is one file, folder or link of a ramdisk.
type InspectedFile struct {
	Path string `json:"path"`
	Mode string `json:"mode"` // as ls -l writes it
	Size int64  `json:"size"`
}

// trailer is the name of the last file of every archive.
const trailer = "TRAILER!!!"

// maxInspected bounds the unpacked size of a ramdisk while it is inspected.
const maxInspected = 4 << 30

// Inspect reads a kernel (bzImage) or a ramdisk as Build makes it: a newc archive that is packed with zstd, gzip or not
// at all, or several in a row.
func Inspect(file string) (Inspection, error) {
	f, err := os.Open(file)
	if err != nil {
		return Inspection{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Inspection{}, err
	}
	found := Inspection{Size: info.Size()}
	head := make([]byte, 4096)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Inspection{}, fmt.Errorf("%s: %w", file, err)
	}
	if version, ok := kernelVersion(f, head[:n]); ok {
		found.Kernel = version
		return found, found.readManifest(file)
	}
	if err := found.readArchives(f); err != nil {
		return Inspection{}, fmt.Errorf("%s: %w", file, err)
	}
	slices.Sort(found.Modules)
	slices.Sort(found.Firmware)
	return found, found.readManifest(file)
}

// kernelVersion reads the version of a bzImage: the boot protocol has its offset from 0x200 at 0x20e
// (Documentation/arch/x86/boot.rst).
func kernelVersion(f io.ReaderAt, head []byte) (string, bool) {
	if len(head) < 0x210 || string(head[0x202:0x206]) != "HdrS" {
		return "", false
	}
	text := make([]byte, 256)
	n, err := f.ReadAt(text, int64(binary.LittleEndian.Uint16(head[0x20e:]))+0x200)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", false
	}
	version, _, _ := bytes.Cut(text[:n], []byte{0})
	return strings.ToValidUTF8(string(version), "?"), true
}

// readArchives reads archives that follow each other, with zeroes between them. Each is packed in its own way:
// microcode comes first and is not packed.
func (i *Inspection) readArchives(r io.Reader) error {
	in := bufio.NewReader(r)
	for segment := 0; ; segment++ {
		if err := skipZeroes(in); errors.Is(err, io.EOF) && segment > 0 {
			return nil
		} else if err != nil {
			return fmt.Errorf("expected a kernel or a ramdisk, found nothing: %w", err)
		}
		head, err := in.Peek(6)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		switch {
		case bytes.HasPrefix(head, []byte("070701")):
			err = i.readArchive(in)
		case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
			err = i.readPacked(gzip.NewReader(in))
		case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
			err = i.readPacked(zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20)))
		default:
			err = fmt.Errorf("part %d begins with %x: expected a bzImage, or a cpio archive of format newc that is packed with "+
				"zstd, gzip or not at all", segment+1, head)
		}
		if err != nil {
			return err
		}
	}
}

// readPacked reads an archive out of an unpacker.
func (i *Inspection) readPacked(plain io.Reader, err error) error {
	if err != nil {
		return err
	}
	in := io.LimitReader(plain, maxInspected)
	if err := i.readArchive(in); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in) // the unpacker's end has the sum of all
	return err
}

// skipZeroes goes on to the first byte that is not zero.
func skipZeroes(in *bufio.Reader) error {
	for {
		next, err := in.Peek(1)
		if err != nil || next[0] != 0 {
			return err
		}
		if _, err := in.Discard(1); err != nil {
			return err
		}
	}
}

// readArchive reads one archive up to its trailer. The format is 13 numbers of eight hexadecimal digits behind the
// magic, the name, and the content; both padded to four bytes.
func (i *Inspection) readArchive(r io.Reader) error {
	const headerSize, maxName = 110, 4096
	for {
		var raw [headerSize]byte
		if _, err := io.ReadFull(r, raw[:]); err != nil {
			return fmt.Errorf("the archive ends early, after %d files: %w", len(i.Files), err)
		}
		var field [13]uint64
		for n := range field {
			if _, err := fmt.Sscanf(string(raw[6+8*n:14+8*n]), "%08x", &field[n]); err != nil || string(raw[:6]) != "070701" {
				return fmt.Errorf("header %d of the archive is not of format newc: %q", len(i.Files)+1, raw[:14])
			}
		}
		mode, size, nameSize := field[1], int64(field[6]), field[11]
		if nameSize == 0 || nameSize > maxName {
			return fmt.Errorf("file %d of the archive has a name of %d bytes: expected up to %d", len(i.Files)+1,
				nameSize, maxName)
		}
		name := make([]byte, nameSize)
		if _, err := io.ReadFull(r, name); err != nil {
			return fmt.Errorf("the archive ends early, after %d files: %w", len(i.Files), err)
		}
		text := strings.ToValidUTF8(string(bytes.TrimRight(name, "\x00")), "?")
		padding := (4 - (headerSize+int64(nameSize))%4) % 4
		if _, err := io.CopyN(io.Discard, r, padding+size+(4-size%4)%4); err != nil {
			return fmt.Errorf("the archive ends early, in %s: %w", text, err)
		}
		i.Unpacked += headerSize + int64(nameSize) + padding + size + (4-size%4)%4
		if text == trailer {
			return nil
		}
		i.add(text, mode, size)
	}
}

// add notes one file.
func (i *Inspection) add(name string, mode uint64, size int64) {
	i.Files = append(i.Files, InspectedFile{Path: name, Mode: fileMode(mode).String(), Size: size})
	if below, ok := strings.CutPrefix(name, "lib/modules/"); ok {
		release, _, _ := strings.Cut(below, "/")
		if !slices.Contains(i.Releases, release) {
			i.Releases = append(i.Releases, release)
		}
		if strings.Contains(path.Base(name), ".ko") {
			i.Modules = append(i.Modules, moduleName(name))
		}
	}
	if below, ok := strings.CutPrefix(name, "kernel/x86/microcode/"); ok {
		i.Microcode = append(i.Microcode, strings.TrimSuffix(below, ".bin"))
	}
	if below, ok := strings.CutPrefix(name, "lib/firmware/"); ok && mode&cpio.S_IFMT == cpio.S_IFREG {
		i.Firmware = append(i.Firmware, below)
	}
}

// fileMode is a mode of Unix as Go has it.
func fileMode(mode uint64) fs.FileMode {
	kinds := map[uint64]fs.FileMode{cpio.S_IFDIR: fs.ModeDir, cpio.S_IFLNK: fs.ModeSymlink,
		cpio.S_IFCHR: fs.ModeDevice | fs.ModeCharDevice, cpio.S_IFBLK: fs.ModeDevice, cpio.S_IFIFO: fs.ModeNamedPipe}
	return fs.FileMode(mode&0o777) | kinds[mode&cpio.S_IFMT]
}
