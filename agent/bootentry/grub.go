package bootentry

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/images/fat"
)

// grubModules is the section of GRUB's EFI program with its modules and first script.
const grubModules = "mods"

// Kinds of objects in that section (GRUB's include/grub/kernel.h).
const (
	grubObjMemdisk = 1
	grubObjConfig  = 2
	grubObjPrefix  = 3
	maxGRUBMods    = 16 << 20
)

// byGRUBOnESP runs GRUB's scripts as the EFI program has them begin.
func (s System) byGRUBOnESP(esp *Partition, files fs.FS, name string) (Entry, error) {
	start, err := grubStart(files, name)
	if err != nil {
		return Entry{}, err
	}
	g := newGRUB(s)
	g.memdisk = start.memdisk
	own := s.device(esp)
	g.set("cmdpath", "("+own+")"+path.Dir(name))
	prefix, own, err := g.place(start.prefix, own)
	if err != nil {
		return Entry{}, err
	}
	g.set("root", own)
	g.set("prefix", prefix)
	if start.script != "" {
		list, err := parseGRUB(start.script)
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
		return "", "", fmt.Errorf("its files are on the device %s, on a disk that only the firmware knows", device)
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

// grubBegin is the configuration inside GRUB's EFI program.
type grubBegin struct {
	script  string // the first, "" for none
	prefix  string // the folder of its files
	memdisk string // grub.cfg of a disk in memory, as Debian's signed program has it
}

// grubStart reads how GRUB begins.
func grubStart(files fs.FS, name string) (b grubBegin, err error) {
	r, size, err := openAt(files, name)
	if err != nil {
		return b, err
	}
	defer r.Close() // only read from
	all, err := peSections(r, size)
	if err != nil {
		return b, err
	}
	s, ok := find(all, grubModules)
	const headerSize = 24
	if !ok || s.size < headerSize || s.size > maxGRUBMods {
		return b, fmt.Errorf("%s: expected a section %s of %d to %d bytes, found %d", name, grubModules, headerSize,
			maxGRUBMods, s.size)
	}
	head, err := readAt(r, s.at, headerSize)
	if err != nil {
		return b, err
	}
	le := binary.LittleEndian
	at, end := le.Uint64(head[8:]), le.Uint64(head[16:])
	if string(head[:4]) != "mimg" || at < headerSize || end > uint64(s.size) || at > end {
		return b, fmt.Errorf("%s: section %s: expected modules of GRUB for 64 bits", name, s.name)
	}
	const objectHeader = 8
	for at+objectHeader <= end {
		head, err := readAt(r, s.at+int64(at), objectHeader)
		if err != nil {
			return b, err
		}
		kind, n := le.Uint32(head), uint64(le.Uint32(head[4:]))
		if n < objectHeader || at+n > end {
			return b, fmt.Errorf("%s: a module of %d bytes at %d of %d", name, n, at, end)
		}
		if err := b.take(kind, r, peSection{"", s.at + int64(at) + objectHeader, int64(n) - objectHeader}); err != nil {
			return b, fmt.Errorf("%s: %w", name, err)
		}
		at += n
	}
	if b.prefix == "" && b.script == "" {
		return b, fmt.Errorf("%s: it names no folder of its files", name)
	}
	return b, nil
}

// take reads an object, if it is one of how GRUB begins.
func (b *grubBegin) take(kind uint32, r io.ReaderAt, s peSection) (err error) {
	switch kind {
	case grubObjConfig:
		b.script, err = s.text(r)
	case grubObjPrefix:
		b.prefix, err = s.text(r)
	case grubObjMemdisk: // a FAT; in others the script is not found, and refused
		disk, err := fat.Open(io.NewSectionReader(r, s.at, s.size))
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		if text, err := disk.ReadFile("grub.cfg", maxText); err == nil {
			b.memdisk = string(text)
		}
	}
	return err
}

// normalMode is the command normal: a script, and then its menu.
func (g *grub) normalMode(args []string) error {
	if len(args) != 1 || args[0] != "(memdisk)/grub.cfg" || g.memdisk == "" {
		return fmt.Errorf("normal %s, of unknown effect", strings.Join(args, " "))
	}
	list, err := parseGRUB(g.memdisk)
	if err != nil {
		return err
	}
	if _, err := g.run(list); err != nil {
		return err
	}
	if len(g.menu) == 0 {
		return errors.New("it has no menu")
	}
	return g.choose()
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
