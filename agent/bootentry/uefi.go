package bootentry

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// loaderKind is a kind of boot loader.
type loaderKind string

const (
	kindUKI  loaderKind = "unified kernel image"
	kindSD   loaderKind = "systemd-boot"
	kindGRUB loaderKind = "GRUB"
	kindShim loaderKind = "shim"
)

// byUEFI follows the boot entry of the firmware.
func (s System) byUEFI() (Entry, error) {
	esp, err := s.partition(s.ESP)
	if err != nil {
		return Entry{}, err
	}
	name := "/" + strings.TrimLeft(strings.ReplaceAll(s.Loader, `\`, "/"), "/")
	switch {
	case s.Options != "":
		return Entry{}, fmt.Errorf("the boot entry gives %s options (%q), which change its boot", name, s.Options)
	case len(s.Choices) > 0:
		return Entry{}, fmt.Errorf("the firmware has %s, which changes the choice of boot loaders",
			strings.Join(s.Choices, ", "))
	}
	files, err := esp.Open()
	if err != nil {
		return Entry{}, fmt.Errorf("%s: %w", esp, err)
	}
	e, err := s.start(esp, files, name)
	if err != nil {
		return e, fmt.Errorf("%s, %s: %w", esp, name, err)
	}
	return e, nil
}

// start resolves an EFI program to its boot entry.
func (s System) start(esp *Partition, files fs.FS, name string) (Entry, error) {
	kind, version, err := recognise(files, name)
	if err != nil {
		return Entry{}, err
	}
	if kind == kindShim {
		if name, err = shimStarts(files, name, s.Arch); err != nil {
			return Entry{}, err
		}
		if kind, version, err = recognise(files, name); err != nil {
			return Entry{}, err
		}
	}
	switch kind {
	case kindUKI:
		u, err := readUKI(files, name)
		if err != nil {
			return Entry{}, err
		}
		return u.entry(s)
	case kindSD:
		return s.bySystemdBoot(esp, files, version)
	case kindGRUB:
		return s.byGRUBOnESP(esp, files, name)
	case kindShim:
	}
	return Entry{}, fmt.Errorf("a %s that starts a %s: expected GRUB, systemd-boot or a unified kernel image",
		kindShim, kind)
}

// recognise says which boot loader an EFI program is, and for systemd-boot which version.
func recognise(files fs.FS, name string) (kind loaderKind, version string, err error) {
	r, size, err := openAt(files, name)
	if err != nil {
		return "", "", err
	}
	defer r.Close() // only read from
	all, err := peSections(r, size)
	if err != nil {
		return "", "", err
	}
	if _, ok := find(all, ".linux"); ok {
		return kindUKI, "", nil
	}
	if _, ok := find(all, grubModules); ok {
		return kindGRUB, "", nil
	}
	magic, err := sectionText(r, all, ".sdmagic")
	if err != nil {
		return "", "", err
	}
	if _, after, ok := strings.Cut(magic, "LoaderInfo: systemd-boot "); ok {
		version, _, _ := strings.Cut(after, " ")
		return kindSD, version, nil
	}
	sbat, err := sectionText(r, all, ".sbat")
	if err != nil {
		return "", "", err
	}
	if strings.Contains("\n"+sbat, "\nshim,") {
		return kindShim, "", nil
	}
	return "", "", errors.New("entries of this boot loader cannot be read; readable ones: " +
		"expected a unified kernel image, systemd-boot, GRUB, or a shim before one of them")
}

// shimStarts is the program that a shim starts: its neighbour. The shim of removable
// media repairs the firmware's boot entries instead, when its fallback is beside it.
func shimStarts(files fs.FS, name, arch string) (string, error) {
	suffix, ok := map[string]string{"amd64": "x64", "arm64": "aa64"}[arch]
	if !ok {
		return "", fmt.Errorf("a shim for %s: expected amd64 or arm64", arch)
	}
	folder := path.Dir(name)
	if strings.EqualFold(path.Base(folder), "BOOT") {
		fallback := path.Join(folder, "fb"+suffix+".efi")
		is, err := exists(files, fallback)
		if err != nil {
			return "", err
		}
		if is {
			return "", fmt.Errorf("the shim would start %s, which makes boot entries of its own", fallback)
		}
	}
	return path.Join(folder, "grub"+suffix+".efi"), nil
}
