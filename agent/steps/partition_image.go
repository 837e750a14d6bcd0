package steps

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/agent/disk/mkfs"
	image "github.com/ferrite-metal/ferrite/images/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// The labels of file systems made beside an image, as ironic-python-agent
// gives them.
const (
	labelESP       = "efi-part"
	labelSwap      = "swap1"
	labelEphemeral = "ephemeral0"
)

// ephemeralFormat is the ephemeral partition's file system when none is said.
const ephemeralFormat = "ext4"

// divided is a disk that is divided for a partition image.
type divided struct {
	layout   disk.Layout
	format   string // of the ephemeral partition
	keep     bool   // that partition, with its data
	drive    []byte
	division *disk.Division // once there is one
}

// divided plans the disk of a partition image, which needs at least need bytes. It refuses an impossible layout, and a
// disk that would not boot.
func (m *Machine) divided(info agentapi.ImageInfo, need int64, drive []byte) (*divided, error) {
	uefi := info.DeployBootMode == "uefi" || info.DeployBootMode == "" && m.EFIVars() != nil
	d := &divided{
		layout: disk.Layout{
			GPT: uefi || info.DiskLabel == "gpt", UEFI: uefi,
			Ephemeral: info.EphemeralMB << 20, Swap: info.SwapMB << 20, ConfigDrive: drive != nil, Root: info.RootMB << 20,
		},
		format: info.EphemeralFormat, keep: info.PreserveEphemeral && info.EphemeralMB > 0, drive: drive,
	}
	if d.format == "" {
		d.format = ephemeralFormat
	}
	if need > d.layout.Root {
		return nil, agentapi.NewCommandError("InvalidCommandParamsError", "Invalid command parameters",
			fmt.Sprintf("Root partition is too small for requested image. Image virtual size: %d MB, Root size: %d MB",
				(need+1<<20-1)>>20, info.RootMB))
	}
	if !uefi && !m.Config().EnableBIOSBootloaderInstall {
		return nil, invalidImage(fmt.Errorf("a partition image boots by BIOS only once its own grub-install was run, %s",
			grubOff))
	}
	if info.EphemeralMB > 0 && !d.keep {
		if err := mkfs.Check(d.format); err != nil {
			return nil, invalidImage(fmt.Errorf("ephemeral_format: %w", err))
		}
	}
	return d, nil
}

func (d *divided) size() int64 { return d.layout.Size() }

// fill divides the disk and fills each partition. A partition that cannot be kept or
// made is found before anything is written.
func (d *divided) fill(ctx context.Context, m *Machine, dev Device, w writing) (*written, error) {
	var err error
	if d.division, err = disk.Divide(dev, d.layout, rand.Reader); err != nil {
		return nil, err
	}
	if d.keep {
		err = d.division.Keep(dev, disk.RoleEphemeral)
	} else {
		err = d.fits(dev)
	}
	if err != nil {
		return nil, err
	}
	if err := d.division.Write(ctx, dev); err != nil {
		return nil, err
	}
	if err := d.beside(dev); err != nil {
		return nil, err
	}
	root := d.division.Parts[disk.RoleRoot]
	part := disk.Within(dev, root)
	w.start = func(first []byte) error { return known(noTable(disk.Beginning(part, first, image.SizeHint(w.src)))) }
	if err := w.to(ctx, m, part); err != nil {
		return nil, err
	}
	if err := noTable(part); err != nil {
		return nil, err
	}
	if err := dev.Flush(); err != nil {
		return nil, err
	}
	if err := dev.RereadPartitions(ctx); err != nil {
		return nil, err
	}
	return d.written(m, dev)
}

// fits refuses an ephemeral partition that is too small for its file system.
func (d *divided) fits(dev Device) error {
	part, ok := d.division.Parts[disk.RoleEphemeral]
	if !ok {
		return nil
	}
	if err := mkfs.Fits(d.format, disk.Within(dev, part), labelEphemeral); err != nil {
		return fmt.Errorf("partition %d for %s: %w", part.Number, disk.RoleEphemeral, err)
	}
	return nil
}

// beside makes the other partitions: file systems, swap space, the config drive.
func (d *divided) beside(dev Device) error {
	for role, do := range map[disk.Role]func(disk.Disk) error{
		disk.RoleESP:  func(p disk.Disk) error { return mkfs.Make("vfat", p, labelESP, rand.Reader) },
		disk.RoleSwap: func(p disk.Disk) error { return mkfs.Swap(p, labelSwap, rand.Reader) },
		disk.RoleEphemeral: func(p disk.Disk) error {
			if d.keep {
				return nil
			}
			return mkfs.Make(d.format, p, labelEphemeral, rand.Reader)
		},
		disk.RoleConfigDrive: func(p disk.Disk) error { return disk.FillConfigDrive(p, disk.Part{Size: p.Size()}, d.drive) },
	} {
		part, ok := d.division.Parts[role]
		if !ok {
			continue
		}
		if err := do(disk.Within(dev, part)); err != nil {
			return fmt.Errorf("partition %d for %s: %w", part.Number, role, err)
		}
	}
	return nil
}

// noTable refuses an image of a whole disk: nothing would find its partitions.
func noTable(root disk.Disk) error {
	table, err := disk.ReadTable(root)
	if err == nil {
		return fmt.Errorf("the image is of a whole disk, with %d partitions, and not of one partition: its image_type is %s",
			len(table.Parts()), agentapi.WholeDisk)
	}
	if !errors.Is(err, disk.ErrNoTable) && !errors.Is(err, disk.ErrTable) {
		return err
	}
	return nil
}

// written is the disk's new content.
func (d *divided) written(m *Machine, dev Device) (*written, error) {
	w := &written{parts: map[disk.Role]int{}}
	for role, p := range d.division.Parts {
		w.parts[role] = p.Number
	}
	var err error
	if w.rootUUID, err = d.uuid(dev, disk.RoleRoot); err != nil {
		return nil, err
	}
	if _, ok := d.division.Parts[disk.RoleESP]; ok {
		w.espUUID, err = d.uuid(dev, disk.RoleESP)
	}
	m.Log.Info("disk divided", "partitions", len(w.parts), "kept_ephemeral", d.keep, "root_uuid", w.rootUUID,
		"esp_uuid", w.espUUID)
	return w, err
}

// uuid identifies a partition: the UUID of its file system or, if we can read none,
// the partition's own.
func (d *divided) uuid(dev Device, role disk.Role) (string, error) {
	v, err := disk.ReadVolume(dev, d.division.Parts[role])
	if err != nil {
		return "", err
	}
	if v.UUID == "" {
		return d.division.PartUUID(role), nil
	}
	return v.UUID, nil
}

// spoil makes sure that half an image does not boot. If a partition is kept, the table
// stays: it has that partition's place.
func (d *divided) spoil(dev Device) error {
	if !d.keep {
		return unboot(dev)
	}
	root := d.division.Parts[disk.RoleRoot]
	if err := errors.Join(dev.Zero(root.Start, min(edge, root.Size)), dev.Flush()); err != nil {
		return fmt.Errorf("and the half-written disk may still boot: %w", err)
	}
	return nil
}
