package steps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/agent/bootentry"
	"github.com/ferrite-metal/ferrite/agent/disk"
)

// systemOn describes a disk and how its firmware boots it.
func (m *Machine) systemOn(ctx context.Context, path string, uefi bool) (s bootentry.System, err error) {
	dev, err := m.Open(ctx, path)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, dev.Close()) }() // held, its partitions are not mounted
	table, err := disk.ReadTable(dev)
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	s = bootentry.System{Disk: path, Arch: m.Arch, UEFI: uefi}
	if uefi {
		esp, loader, err := disk.BootLoader(dev, table, m.Arch)
		if err != nil {
			return s, fmt.Errorf("%s: %w", path, err)
		}
		s.ESP, s.Loader, s.Options, s.Choices = esp.Number, loader.Path, loader.Options, m.loaderChoices()
	} else if s.BootCode, err = bootCode(dev, 0); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	for _, p := range table.Parts() {
		v, err := disk.ReadVolume(dev, p)
		if err != nil {
			return s, fmt.Errorf("%s: %w", path, err)
		}
		code, err := bootCode(dev, p.Start)
		if err != nil {
			return s, fmt.Errorf("%s: partition %d: %w", path, p.Number, err)
		}
		s.Partitions = append(s.Partitions, &bootentry.Partition{Number: p.Number, Type: p.Type, PartUUID: table.PartUUID(p),
			Kind: v.Kind, UUID: v.UUID, Label: v.Label, Active: p.Active, BootCode: code})
	}
	return s, nil
}

// bootCode reads a boot sector.
func bootCode(dev io.ReaderAt, at int64) ([]byte, error) {
	const size = 512
	b := make([]byte, size)
	if n, err := dev.ReadAt(b, at); n < size {
		return nil, fmt.Errorf("boot sector: %w", err)
	}
	return b, nil
}

// loaderChoices are EFI variables, and strings of the firmware, by which systemd's boot
// loader and stub boot something else than the disk says
// (https://systemd.io/BOOT_LOADER_INTERFACE, systemd-stub(7)).
func (m *Machine) loaderChoices() []string {
	const systemd = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"
	var all []string
	for _, name := range []string{"LoaderEntryDefault-" + systemd, "LoaderEntryOneShot-" + systemd,
		"LoaderEntryPreferred-" + systemd, "BootNext-8be4df61-93ca-11d2-aa0d-00e098032b8c"} {
		if _, err := fs.Stat(m.Root, "sys/firmware/efi/efivars/"+name); !errors.Is(err, fs.ErrNotExist) {
			variable, _, _ := strings.Cut(name, "-")
			all = append(all, "the EFI variable "+variable)
		}
	}
	strs, err := fs.ReadFile(m.Root, "sys/firmware/dmi/tables/DMI")
	if err == nil && strings.Contains(string(strs), "io.systemd.") {
		all = append(all, "strings for systemd (SMBIOS type 11)")
	}
	return all
}

// available is MemAvailable of /proc/meminfo, bytes; 0 without it.
func available(meminfo string) int64 {
	for line := range strings.Lines(meminfo) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == "MemAvailable:" && words[2] == "kB" {
			n, err := strconv.ParseInt(words[1], 10, 64)
			if err != nil {
				return 0
			}
			return n << 10
		}
	}
	return 0
}
