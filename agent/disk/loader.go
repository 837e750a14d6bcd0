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

// Loader is a boot loader on an EFI system partition.
type Loader struct {
	Path    string  // as firmware writes it: \EFI\debian\shimx64.efi
	Label   string  // the operating system's own name; empty when it gives none
	Options string  // for the loader; mostly empty
	Passed  []error // why folders and partitions before it were passed over
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

// FindLoader looks for an installed system's own boot entry: a BOOT<arch>.CSV in a directory under EFI, else the
// removable-media loader EFI/BOOT/BOOT<arch>.EFI.
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
	var passed []error
	for _, d := range dirs {
		if !d.IsDir {
			continue
		}
		l, err := loaderOfCSV(f, path.Join("EFI", d.Name), csv)
		if err == nil {
			l.Passed = passed
			return l, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			passed = append(passed, fmt.Errorf("EFI/%s: %w", d.Name, err))
		}
	}
	e, err := f.Find("EFI/BOOT/" + fallback)
	if err == nil && !e.IsDir {
		return Loader{Path: `\EFI\BOOT\` + fallback, Passed: passed}, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		passed = append(passed, err)
	}
	if len(passed) > 0 { // not ErrNoLoader: an unreadable folder may have one
		return Loader{}, errors.Join(passed...)
	}
	return Loader{}, fmt.Errorf("%w: it has neither EFI/*/%s nor EFI/BOOT/%s", ErrNoLoader, csv, fallback)
}

// Removable is the loader that firmware boots from the EFI system partition p without a
// boot entry, if it is there (UEFI specification, section 3.5.1.1).
func Removable(d Disk, p Part, arch string) (Loader, error) {
	_, fallback, err := loaderNames(arch)
	if err != nil {
		return Loader{}, err
	}
	f, err := fat.Open(section{d, p.Start, p.Size})
	if err != nil {
		return Loader{}, err
	}
	name := "EFI/BOOT/" + fallback
	if e, err := f.Find(name); err != nil || e.IsDir {
		return Loader{}, fmt.Errorf("%w without a boot entry: it has no %s", ErrNoLoader, name)
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

// BootLoader finds the EFI system partition of a disk and its loader. Of several such partitions the first with a
// loader counts; without any, the first.
func BootLoader(d Disk, t *Table, arch string) (Part, Loader, error) {
	var first Part
	var passed []error
	for _, p := range t.ofType(espTypes()...) {
		l, err := loaderOn(d, p, arch)
		if err == nil {
			l.Passed = append(passed, l.Passed...)
			return p, l, nil
		}
		if passed = append(passed, fmt.Errorf("EFI system partition %d: %w", p.Number, err)); len(passed) == 1 {
			first = p
		}
	}
	if len(passed) == 0 {
		return Part{}, Loader{}, fmt.Errorf("%w: the partition table has none", ErrNoLoader)
	}
	return first, Loader{}, errors.Join(passed...)
}

func loaderOn(d Disk, p Part, arch string) (Loader, error) {
	f, err := fat.Open(section{d, p.Start, p.Size})
	if err != nil {
		return Loader{}, err
	}
	return FindLoader(f, arch)
}
