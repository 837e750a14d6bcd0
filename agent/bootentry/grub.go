package bootentry

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// grubModules is the section of GRUB's EFI program with its modules and first script.
const grubModules = "mods"

// Kinds of what lies in that section (GRUB's include/grub/kernel.h).
const (
	grubObjConfig = 2
	grubObjPrefix = 3
	maxGRUBMods   = 16 << 20
)

// byGRUBOnESP runs GRUB's scripts as the EFI program has them begin.
func (s System) byGRUBOnESP(esp *Partition, files fs.FS, name string) (Entry, error) {
	embedded, prefix, err := grubStart(files, name)
	if err != nil {
		return Entry{}, err
	}
	g := newGRUB(s)
	own := s.device(esp)
	g.set("cmdpath", "("+own+")"+path.Dir(name))
	if prefix, own, err = g.place(prefix, own); err != nil {
		return Entry{}, err
	}
	g.set("root", own)
	g.set("prefix", prefix)
	if embedded != "" {
		list, err := parseGRUB(embedded)
		if err != nil {
			return Entry{}, fmt.Errorf("its first script: %w", err)
		}
		_, err = g.run(list)
		var c chosen
		switch {
		case errors.As(err, &c):
			return c.entry, nil
		case err != nil:
			return Entry{}, fmt.Errorf("its first script: %w", err)
		}
	}
	return g.normal()
}

// normal is GRUB after its first script: it runs grub.cfg of its prefix.
func (g *grub) normal() (Entry, error) {
	prefix := g.value("prefix")
	if prefix.unknown {
		return Entry{}, fmt.Errorf("the variable prefix, %w", errUnknown)
	}
	if len(g.menu) > 0 {
		return Entry{}, errors.New("its first script has a menu")
	}
	name, err := g.full(prefix.text + "/grub.cfg")
	if err == nil {
		err = g.boot(name)
	}
	var c chosen
	switch {
	case errors.As(err, &c):
		return c.entry, nil
	case err != nil:
		return Entry{}, err
	}
	return Entry{}, fmt.Errorf("%s has no menu", name)
}

// place makes a full path of the prefix that is built in: on GRUB's own partition, or on
// one of its disk by number.
func (g *grub) place(prefix, own string) (full, root string, err error) {
	if !strings.HasPrefix(prefix, "(") {
		return "(" + own + ")" + prefix, own, nil
	}
	device, rest, _ := strings.Cut(prefix[1:], ")")
	number, ok := strings.CutPrefix(device, ",")
	if !ok {
		return "", "", fmt.Errorf("its files are on the device %s, whose disk only the firmware knows", device)
	}
	n, err := strconv.Atoi(strings.TrimLeft(number, "gptmsdo"))
	if err != nil {
		return "", "", fmt.Errorf("its files are on the device %s", device)
	}
	p, err := g.sys.partition(n)
	if err != nil {
		return "", "", fmt.Errorf("its files are on the device %s: %w", device, err)
	}
	return "(" + g.sys.device(p) + ")" + rest, g.sys.device(p), nil
}

// grubStart reads GRUB's first script and the folder of its files.
func grubStart(files fs.FS, name string) (script, prefix string, err error) {
	r, size, err := openAt(files, name)
	if err != nil {
		return "", "", err
	}
	defer r.Close() // only read from
	all, err := peSections(r, size)
	if err != nil {
		return "", "", err
	}
	s, ok := find(all, grubModules)
	if !ok {
		return "", "", fmt.Errorf("%s has no section %s", name, grubModules)
	}
	if s.size > maxGRUBMods {
		return "", "", fmt.Errorf("%s: section %s has %d bytes", name, s.name, s.size)
	}
	le := binary.LittleEndian
	const headerSize = 24
	if s.size < headerSize {
		return "", "", fmt.Errorf("%s: section %s has %d bytes", name, s.name, s.size)
	}
	head, err := readAt(r, s.at, headerSize)
	if err != nil {
		return "", "", err
	}
	at, end := le.Uint64(head[8:]), le.Uint64(head[16:])
	if string(head[:4]) != "mimg" || at < headerSize || end > uint64(s.size) || at > end {
		return "", "", fmt.Errorf("%s: section %s: expected modules of GRUB for 64 bits", name, s.name)
	}
	for at+8 <= end {
		head, err := readAt(r, s.at+int64(at), 8)
		if err != nil {
			return "", "", err
		}
		kind, n := le.Uint32(head), uint64(le.Uint32(head[4:]))
		if n < 8 || at+n > end {
			return "", "", fmt.Errorf("%s: a module of %d bytes at %d of %d", name, n, at, end)
		}
		if kind == grubObjConfig || kind == grubObjPrefix {
			text, err := peSection{"", s.at + int64(at) + 8, int64(n) - 8}.text(r)
			if err != nil {
				return "", "", err
			}
			if kind == grubObjConfig {
				script = text
			} else {
				prefix = text
			}
		}
		at += n
	}
	if prefix == "" && script == "" {
		return "", "", fmt.Errorf("%s: it names no folder of its files", name)
	}
	return script, prefix, nil
}

// byGRUBOnDisk runs the one grub.cfg of a disk that a BIOS boots. Where GRUB looks for it
// is packed into its core image; with one there is no other to find.
func (s System) byGRUBOnDisk() (Entry, error) {
	var found []string
	for _, p := range s.Partitions {
		if p.Kind == "" {
			continue
		}
		files, err := p.Open()
		if err != nil {
			return Entry{}, fmt.Errorf("%s: %w", p, err)
		}
		for _, folder := range []string{"/boot/grub", "/boot/grub2", "/grub", "/grub2"} {
			is, err := exists(files, folder+"/grub.cfg")
			if err != nil {
				return Entry{}, fmt.Errorf("%s: %w", p, err)
			}
			if is {
				found = append(found, "("+s.device(p)+")"+folder)
			}
		}
	}
	if len(found) != 1 {
		return Entry{}, fmt.Errorf("expected one grub.cfg on its partitions, found %d: %s", len(found),
			strings.Join(found, ", "))
	}
	g := newGRUB(s)
	g.set("root", found[0][1:strings.IndexByte(found[0], ')')])
	g.set("prefix", found[0])
	return g.normal()
}
