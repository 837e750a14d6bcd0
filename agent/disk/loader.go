package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
	"unicode/utf16"

	"github.com/ferrite-metal/ferrite/images/fat"
)

// ErrNoLoader says that an EFI system partition holds nothing to boot.
var ErrNoLoader = errors.New("no boot loader on the EFI system partition")

// maxCSV bounds a boot CSV file, bytes.
const maxCSV = 64 << 10

// Loader is what to boot on an EFI system partition.
type Loader struct {
	Path    string // as firmware writes it: \EFI\debian\shimx64.efi
	Label   string // the operating system's own name; empty when it gives none
	Options string // for the loader; mostly empty
}

// loaderNames are the names of the two files to look for, by GOARCH (UEFI
// specification section 3.5.1.1, and shim's README.fallback).
func loaderNames(arch string) (csv, fallback string, err error) {
	suffix := map[string]string{"amd64": "X64", "arm64": "AA64", "386": "IA32", "riscv64": "RISCV64"}[arch]
	if suffix == "" {
		return "", "", fmt.Errorf("%w: architecture %q is not known", ErrNoLoader, arch)
	}
	return "BOOT" + suffix + ".CSV", "BOOT" + suffix + ".EFI", nil
}

// FindLoader looks for what an installed system left as its boot entry: a
// BOOT<arch>.CSV in a directory under EFI, else the removable-media loader
// EFI/BOOT/BOOT<arch>.EFI.
func FindLoader(f *fat.Reader, arch string) (Loader, error) {
	csv, fallback, err := loaderNames(arch)
	if err != nil {
		return Loader{}, err
	}
	dirs, err := f.List("EFI")
	if errors.Is(err, fs.ErrNotExist) {
		return Loader{}, fmt.Errorf("%w: it has no folder EFI", ErrNoLoader)
	}
	if err != nil {
		return Loader{}, err
	}
	sort.Slice(dirs, func(i, j int) bool { return strings.ToLower(dirs[i].Name) < strings.ToLower(dirs[j].Name) })
	for _, d := range dirs {
		if !d.IsDir {
			continue
		}
		l, err := loaderOfCSV(f, path.Join("EFI", d.Name), csv)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return l, err
		}
	}
	e, err := f.Find("EFI/BOOT/" + fallback)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && e.IsDir:
		return Loader{}, fmt.Errorf("%w: it has neither EFI/*/%s nor EFI/BOOT/%s", ErrNoLoader, csv, fallback)
	case err != nil:
		return Loader{}, err
	}
	return Loader{Path: `\EFI\BOOT\` + fallback}, nil
}

// loaderOfCSV reads a CSV in dir; the error wraps fs.ErrNotExist when there is
// none or none of its loaders is there.
func loaderOfCSV(f *fat.Reader, dir, name string) (Loader, error) {
	b, err := f.ReadFile(path.Join(dir, name), maxCSV)
	if err != nil {
		return Loader{}, err
	}
	for _, l := range parseCSV(b) {
		p := path.Join(dir, l.Path)
		if e, err := f.Find(p); err == nil && !e.IsDir {
			l.Path = `\` + strings.ReplaceAll(p, "/", `\`)
			return l, nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Loader{}, err
		}
	}
	return Loader{}, fmt.Errorf("loaders of %s/%s: %w", dir, name, fs.ErrNotExist)
}

// parseCSV reads lines of "file,label,options,comment" in UTF-16 (with or
// without a mark) or plain text. Paths are relative to the file's directory.
// It is pure.
func parseCSV(b []byte) []Loader {
	var loaders []Loader
	for _, line := range strings.FieldsFunc(csvText(b), func(r rune) bool { return r == '\n' || r == '\r' }) {
		fields := append(strings.SplitN(line, ",", 4), "", "")
		file := strings.TrimSpace(fields[0])
		if file == "" || strings.Contains(file, "..") {
			continue
		}
		l := Loader{Path: strings.ReplaceAll(file, `\`, "/"), Label: strings.TrimSpace(fields[1]),
			Options: strings.TrimSpace(fields[2])}
		loaders = append(loaders, l)
	}
	return loaders
}

// csvText decodes a CSV's characters.
func csvText(b []byte) string {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case len(b) >= 2 && b[0] == 0xff && b[1] == 0xfe:
		b = b[2:]
	case len(b) >= 2 && b[0] == 0xfe && b[1] == 0xff:
		order, b = binary.BigEndian, b[2:]
	case len(b) < 2 || b[1] != 0:
		return string(b)
	}
	var u []uint16
	for ; len(b) >= 2; b = b[2:] {
		u = append(u, order.Uint16(b))
	}
	return strings.TrimRight(string(utf16.Decode(u)), "\x00")
}

// BootLoader finds the EFI system partition of a disk and what to boot on it.
func BootLoader(d Disk, t *Table, arch string) (Part, Loader, error) {
	p, ok := t.ESP()
	if !ok {
		return Part{}, Loader{}, fmt.Errorf("%w: the partition table has none", ErrNoLoader)
	}
	f, err := fat.Open(section{d, p.Start, p.Size})
	if err != nil {
		return p, Loader{}, fmt.Errorf("EFI system partition %d: %w", p.Number, err)
	}
	l, err := FindLoader(f, arch)
	if err != nil {
		return p, l, fmt.Errorf("EFI system partition %d: %w", p.Number, err)
	}
	return p, l, nil
}
