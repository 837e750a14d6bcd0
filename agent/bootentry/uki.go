package bootentry

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// uki is a unified kernel image: an EFI program that is systemd's stub, and holds all
// that the stub boots, as sections
// (https://uapi-group.org/specifications/specs/unified_kernel_image/).
type uki struct {
	path     string
	sections map[string]peSection // of the profile that is booted
	profiles int
	release  map[string]string // os-release
	files    fs.FS
}

// contents are the sections of the boot entry, and of its name.
var contents = []string{".linux", ".initrd", ".cmdline", ".ucode", ".osrel"}

// passive are the sections without an effect on the boot: the stub's own code, and texts for people. Any other section
// may have an effect, in a stub newer than this table.
var passive = []string{
	".uname", ".sbat", ".splash", ".profile", ".sdmagic", ".text", ".rodata", ".rdata", ".data", ".bss",
	".reloc", ".dynamic",
	".dynsym", ".dynstr", ".rela", ".rel", ".hash", ".got", ".init", ".fini", ".note", ".comment", ".buildid", ".xdata",
	".pdata", ".eh_fram", "",
}

// errNotUKI says that an EFI program is no unified kernel image.
var errNotUKI = errors.New("no unified kernel image")

// readUKI reads the sections of a unified kernel image.
func readUKI(files fs.FS, path string) (u uki, err error) {
	r, size, err := openAt(files, path)
	if err != nil {
		return u, err
	}
	defer r.Close() // only read from
	all, err := peSections(r, size)
	if err != nil {
		return u, fmt.Errorf("%s: %w", path, err)
	}
	u = uki{path: path, sections: map[string]peSection{}, release: map[string]string{}, files: files}
	seen := map[string]bool{}
	for _, s := range all {
		if s.name == ".profile" {
			u.profiles++
			clear(seen)
		}
		switch {
		case u.profiles > 1: // the first profile is booted where none is named
		case seen[s.name] && slices.Contains(contents, s.name):
			return u, fmt.Errorf("%s has two sections %s", path, s.name)
		default:
			seen[s.name] = true
			u.sections[s.name] = s
		}
	}
	if _, ok := u.sections[".linux"]; !ok {
		return u, fmt.Errorf("%s: %w: it has no section .linux", path, errNotUKI)
	}
	if s, ok := u.sections[".osrel"]; ok {
		text, err := s.text(r)
		if err != nil {
			return u, fmt.Errorf("%s: %w", path, err)
		}
		u.release = osRelease(text)
	}
	return u, nil
}

// entry is the stub's boot entry, with nothing added to it.
func (u uki) entry(s System) (e Entry, err error) {
	for name := range u.sections {
		if !slices.Contains(passive, name) && !slices.Contains(contents, name) {
			return e, fmt.Errorf("%s has a section %s, which only its stub can use", u.path, name)
		}
	}
	if err := u.alone(); err != nil {
		return e, err
	}
	e = Entry{Source: sourceUKI, Title: u.title(), Kernel: u.blob(".linux")}
	for _, name := range []string{".ucode", ".initrd"} {
		if _, ok := u.sections[name]; ok {
			e.Initrd = append(e.Initrd, u.blob(name))
		}
	}
	if line, ok := u.sections[".cmdline"]; ok {
		if e.CommandLine, err = u.read(line); err != nil {
			return e, fmt.Errorf("%s: %w", u.path, err)
		}
		e.CommandLine = stubLine(e.CommandLine)
	}
	return e, rootKnown(s, e)
}

func (u uki) read(s peSection) (string, error) {
	r, _, err := openAt(u.files, u.path)
	if err != nil {
		return "", err
	}
	defer r.Close() // only read from
	return s.text(r)
}

func (u uki) blob(section string) Blob {
	s := u.sections[section]
	return Blob{Path: "/" + local(u.path), Offset: s.at, Size: s.size, files: u.files}
}

// alone refuses files beside an image that the stub would add to the boot: other command lines, credentials and
// extensions of the system (systemd-stub(7)).
func (u uki) alone() error {
	for _, folder := range []string{u.path + ".extra.d", "/loader/addons", "/loader/credentials"} {
		entries, err := listed(u.files, folder)
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			return fmt.Errorf("%s has %s, which only the stub of %s can use", folder, entries[0].Name(), u.path)
		}
	}
	return nil
}

// title is the name of the system.
func (u uki) title() string { return u.first(u.path, "PRETTY_NAME", "IMAGE_ID", "NAME", "ID") }

// first is the first value of os-release that is there.
func (u uki) first(otherwise string, keys ...string) string {
	for _, k := range keys {
		if v := u.release[k]; v != "" {
			return v
		}
	}
	return otherwise
}

// stubLine is a command line as systemd's stub hands it on: control characters become
// blanks, and those at the end go.
func stubLine(text string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text), " ")
}

// osRelease reads os-release(5).
func osRelease(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || strings.HasPrefix(key, "#") {
			continue
		}
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		out[key] = value
	}
	return out
}

// rootTypes are the types of partitions that systemd mounts as the root by themselves
// (https://uapi-group.org/specifications/specs/discoverable_partitions_specification/).
var rootTypes = map[string]bool{
	"4f68bce3-e8cd-4db1-96e7-fbcaf984b709": true, // x86-64
	"b921b045-1df0-41c3-af44-4c6f280d3fae": true, // arm64
	"44479540-f297-41b2-9af7-d131d5f0458a": true, // x86
}

// rootKnown refuses a system that would look for its root by an EFI variable that only
// systemd's boot loader and stub set (LoaderDevicePartUUID, systemd-gpt-auto-generator(8)).
func rootKnown(s System, e Entry) error {
	for _, word := range strings.Fields(e.CommandLine) {
		if value, ok := strings.CutPrefix(word, "root="); ok && !strings.HasPrefix(value, "gpt-auto") {
			return nil
		}
	}
	for _, p := range s.Partitions {
		if rootTypes[strings.ToLower(p.Type)] {
			return fmt.Errorf("%s names no root on its command line: systemd would take %s for it only when the boot loader "+
				"has set LoaderDevicePartUUID", e.Title, p)
		}
	}
	return nil
}

// sectionText reads the text of a section of an EFI program; "" without it.
func sectionText(r io.ReaderAt, all []peSection, name string) (string, error) {
	s, ok := find(all, name)
	if !ok {
		return "", nil
	}
	return s.text(r)
}
