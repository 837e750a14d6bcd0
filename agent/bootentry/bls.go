package bootentry

import (
	"fmt"
	"slices"
	"strings"
)

// blsEntry is an entry of the Boot Loader Specification, type 1
// (https://uapi-group.org/specifications/specs/boot_loader_specification/).
type blsEntry struct {
	file                                   string // its name, without .conf
	title, version, machine, sortKey, arch string
	linux, efi                             string
	initrd, options                        []string
	open                                   bool     // GRUB asks for no password
	other                                  []string // unknown keys, which may change the boot
}

// blsIgnored are keys without an effect on the boot.
var blsIgnored = []string{"grub_users", "grub_hotkey", "grub_class", "grub_arg", "id", "version-id"}

// parseBLS reads an entry. A key that it does not know is kept in other.
func parseBLS(file, text string) blsEntry {
	e := blsEntry{file: file}
	single := map[string]*string{"title": &e.title, "version": &e.version, "machine-id": &e.machine,
		"sort-key":     &e.sortKey,
		"architecture": &e.arch, "linux": &e.linux, "efi": &e.efi}
	several := map[string]*[]string{"initrd": &e.initrd, "options": &e.options}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		at := strings.IndexAny(line, " \t")
		if at < 0 {
			continue // a key without a value is ignored by all boot loaders
		}
		key, value := line[:at], strings.TrimSpace(line[at:])
		if p := single[key]; p != nil {
			if *p != "" && *p != value {
				e.other = append(e.other, key+" twice")
			}
			*p = value
		} else if p := several[key]; p != nil {
			*p = append(*p, value)
		} else if key == "grub_arg" && slices.Contains(strings.Fields(value), "--unrestricted") {
			e.open = true
		} else if !slices.Contains(blsIgnored, key) {
			e.other = append(e.other, key)
		}
	}
	return e
}

// check refuses an entry with something that is not understood.
func (e blsEntry) check() error {
	switch {
	case len(e.other) > 0:
		return fmt.Errorf("entry %s has %s, of unknown effect", e.file, strings.Join(e.other, ", "))
	case e.linux == "":
		return fmt.Errorf("entry %s boots no Linux", e.file)
	}
	return nil
}

// name is the title, or the file.
func (e blsEntry) name() string {
	if e.title == "" {
		return e.file
	}
	return e.title
}
