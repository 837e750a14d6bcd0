package steps

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// defaultLabel is the boot entry's name when the operating system does not
// say its own.
const defaultLabel = "ferrite"

// InstallBootloader makes the firmware boot the installed system first. A whole-disk
// image has its loader: with BIOS there is nothing to do, with UEFI an entry is made
// that points to it. For a partition image the loader is first put where the firmware
// looks for it.
func (m *Machine) InstallBootloader(ctx context.Context, n agentapi.CommandNode, p agentapi.BootloaderParams) error {
	err := m.makeBootable(ctx, n, p)
	if err != nil && p.IgnoreBootloaderError {
		m.Log.Warn("nothing made bootable, as the node may do without", "err", err)
		return nil
	}
	if err != nil {
		return agentapi.NewCommandError("CommandExecutionError", "Installing the boot loader failed", err.Error())
	}
	return nil
}

func (m *Machine) makeBootable(ctx context.Context, n agentapi.CommandNode, p agentapi.BootloaderParams) error {
	vars := m.notedVars()
	uefi := p.TargetBootMode == "uefi" || p.TargetBootMode == "" && vars != nil
	var err error
	if isFileSystem(p.RootUUID) {
		err = m.installLoader(ctx, n, p, uefi)
	} else if !uefi {
		err = m.bootsByBIOS()
	}
	if err != nil {
		return err
	}
	switch {
	case !uefi:
		return nil
	case vars == nil:
		m.Log.Warn("no boot entry made: the machine is to boot by UEFI, but was started by BIOS now")
		return nil
	}
	return m.makeBootEntry(ctx, n, vars)
}

// bootsByBIOS refuses a disk that a BIOS cannot boot: it reads boot code from the
// start of a disk, and members of an array are partitions.
func (m *Machine) bootsByBIOS() error {
	w := m.getWritten()
	if w == nil {
		return nil
	}
	if _, is := m.runningArray(w.device); !is {
		return nil
	}
	return fmt.Errorf("%s is software RAID of partitions, from which a BIOS does not boot an image of a whole disk: "+
		"say which file system is its root (instance_info/image_rootfs_uuid), so that its GRUB can be installed onto each "+
		"disk, or have the machine boot by UEFI (capability boot_mode:uefi)", w.device)
}

func (m *Machine) makeBootEntry(ctx context.Context, n agentapi.CommandNode, vars disk.EFIVars) error {
	path, err := m.installedDisk(ctx, n)
	if err != nil {
		return err
	}
	dev, err := m.Open(ctx, path)
	if err != nil {
		return err
	}
	defer dev.Close() //nolint:errcheck // only read from
	table, err := disk.ReadTable(dev)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	part, loader, err := disk.BootLoader(dev, table, m.Arch)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, err := range loader.Passed {
		m.Log.Warn("passed over in the search for a boot loader", "disk", path, "err", err)
	}
	entry := disk.BootEntry{Label: loader.Label, Loader: loader}
	if entry.Label == "" {
		entry.Label = defaultLabel
	}
	if a, is := m.runningArray(path); is {
		return m.bootMembers(ctx, vars, a, dev, part, entry)
	}
	return m.setBootEntry(dev, part, path, entry, func() (uint16, error) {
		return disk.SetBootEntry(vars, table, part, dev.LogicalSectorSize(), entry)
	})
}

// setBootEntry makes an entry for a loader on a partition of dev. Where the firmware does
// not take it, as with a full NVRAM, the loader of removable media is as good: firmware
// boots it from any disk. Without that one, nothing would boot.
func (m *Machine) setBootEntry(
	dev disk.Disk, esp disk.Part, path string, entry disk.BootEntry, set func() (uint16, error),
) error {
	number, err := set()
	if err == nil {
		m.Log.Info("boot entry made", "number", fmt.Sprintf("Boot%04X", number), "label", entry.Label, "loader",
			entry.Loader.Path, "disk", path)
		return nil
	}
	fallback, none := disk.Removable(dev, esp, m.Arch)
	if none != nil {
		return fmt.Errorf("boot entry for %s on %s: %w; %w; make room in the firmware's NVRAM by the clean steps "+
			"clean_uefi_nvram and erase_pstore", entry.Loader.Path, path, err, none)
	}
	m.Log.Warn("no boot entry made: the firmware is to boot the loader of removable media", "loader", fallback.Path,
		"disk", path, "err", err)
	return nil
}

// notedVars are the EFI variables, or nil. The log names those that are set aside.
func (m *Machine) notedVars() disk.EFIVars {
	vars := m.EFIVars()
	if vars == nil {
		return nil
	}
	return disk.Noted(vars, func(err error) { m.Log.Warn("EFI variable set aside", "err", err) })
}

// bootMembers makes each member of an array bootable by itself, since
// firmware knows no software RAID: the EFI system partition of the image,
// which is within the array, is copied onto the one each member's disk has,
// and each gets an entry. The first member's comes first.
func (m *Machine) bootMembers(
	ctx context.Context, vars disk.EFIVars, a array, from Device, esp disk.Part, entry disk.BootEntry,
) error {
	for i := len(a.members) - 1; i >= 0; i-- {
		if err := m.bootMember(ctx, vars, a.members[i], from, esp, entry); err != nil {
			return fmt.Errorf("make %s of array %s bootable: %w", a.members[i].disk, a.Name, err)
		}
	}
	return nil
}

func (m *Machine) bootMember(
	ctx context.Context, vars disk.EFIVars, member arrayMember, from Device, esp disk.Part, entry disk.BootEntry,
) error {
	own, ok := member.table.ESP()
	if !ok {
		return errors.New("it has no EFI system partition: it was divided when the machine was started by BIOS, " +
			"delete and create the RAID configuration again")
	}
	path := partitionPath(member.disk, own.Number)
	to, err := m.Open(ctx, path) // alone: the array holds the disk
	if err != nil {
		return err
	}
	defer to.Close() //nolint:errcheck // flushed before; closing shows no other error
	if err := disk.CopyESP(to, disk.Part{Size: to.Size()}, from, esp); err != nil {
		return err
	}
	entry.Label = fmt.Sprintf("%s (RAID, part%d)", entry.Label, member.Number) // as ironic-python-agent calls them
	return m.setBootEntry(to, disk.Part{Size: to.Size()}, member.disk, entry, func() (uint16, error) {
		return disk.SetBootEntry(vars, member.table, own, member.sector, entry)
	})
}

// installedDisk is the disk that was written or, if the agent was restarted since, the
// disk that would be chosen.
func (m *Machine) installedDisk(ctx context.Context, n agentapi.CommandNode) (string, error) {
	if w := m.getWritten(); w != nil {
		return w.device, nil
	}
	d, err := m.RootDisk(ctx, n, 0)
	return d.Name, err
}
