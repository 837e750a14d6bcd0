package bootentry

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
)

// byBIOS follows the boot code of the disk. GRUB's says so in its first sector; any other
// starts the boot code of the partition that is marked for it.
func (s System) byBIOS() (Entry, error) {
	if bytes.Contains(s.BootCode, []byte("GRUB ")) {
		return s.byGRUBOnDisk()
	}
	var active []*Partition
	for _, p := range s.Partitions {
		if p.Active {
			active = append(active, p)
		}
	}
	switch {
	case len(active) == 0:
		return Entry{}, errors.New("its boot code is not GRUB's, and no partition is marked to boot from")
	case len(active) > 1:
		return Entry{}, fmt.Errorf("%s and %s are both marked to boot from", active[0], active[1])
	}
	p := active[0]
	if !bytes.Contains(p.BootCode, []byte("SYSLINUX")) && !bytes.Contains(p.BootCode, []byte("EXTLINUX")) {
		return Entry{},
			fmt.Errorf("%s is marked to boot from: expected boot code of syslinux or extlinux on it, found another",
				p)
	}
	e, err := bySyslinux(p)
	if err != nil {
		return e, fmt.Errorf("%s: %w", p, err)
	}
	return e, nil
}

// bySyslinux reads the configuration of a partition's syslinux. There must be one only:
// the folder that syslinux was installed into, where it looks first, is not written down
// in a place to read.
func bySyslinux(p *Partition) (Entry, error) {
	files, err := p.Open()
	if err != nil {
		return Entry{}, err
	}
	var found []string
	for _, folder := range []string{"/", "/boot", "/syslinux", "/boot/syslinux", "/extlinux", "/boot/extlinux"} {
		for _, name := range []string{"syslinux.cfg", "extlinux.conf"} {
			at := path.Join(folder, name)
			is, err := exists(files, at)
			if err != nil {
				return Entry{}, err
			}
			if is {
				found = append(found, at)
			}
		}
	}
	if len(found) != 1 {
		return Entry{}, fmt.Errorf("expected one configuration of syslinux, found %d: %s", len(found),
			strings.Join(found, ", "))
	}
	text, err := readText(files, found[0])
	if err != nil {
		return Entry{}, err
	}
	c, err := parseSyslinux(text)
	if err != nil {
		return Entry{}, fmt.Errorf("%s: %w", found[0], err)
	}
	l, err := c.choose()
	if err != nil {
		return Entry{}, fmt.Errorf("%s: %w", found[0], err)
	}
	e, err := l.entry(files, path.Dir(found[0]))
	if err != nil {
		return e, fmt.Errorf("%s: label %s: %w", found[0], l.name, err)
	}
	return e, nil
}
