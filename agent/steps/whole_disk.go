package steps

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// wholeDisk is an image with partitions of its own.
type wholeDisk struct {
	need  int64
	drive []byte
}

func (d wholeDisk) size() int64            { return d.need }
func (d wholeDisk) spoil(dev Device) error { return unboot(dev) }

// fill writes image, partition table and config drive. The metadata of earlier systems go
// first: many lie where no image reaches, and would be believed beside it. Cleaning may
// have been switched off, and a rebuild has none.
func (d wholeDisk) fill(ctx context.Context, m *Machine, dev Device, w writing) (*written, error) {
	w.before = func(ctx context.Context) error {
		report, err := disk.WipeMetadata(ctx, dev)
		if err != nil {
			return fmt.Errorf("remove the metadata of earlier systems: %w", err)
		}
		m.Log.Info("disk metadata erased", "found", report.Found, "partitions", report.Partitions)
		return nil
	}
	w.start = func(first []byte) error { return known(hasTable(disk.Beginning(dev, first, d.need))) }
	if err := w.to(ctx, m, dev); err != nil {
		return nil, err
	}
	if err := disk.FitGPT(dev); err != nil && !errors.Is(err, disk.ErrNoTable) {
		return nil, fmt.Errorf("move the backup partition table to the disk's end: %w", err)
	}
	if err := hasTable(dev); err != nil {
		return nil, err
	}
	if d.drive != nil {
		m.Progress(agentapi.Progress{Step: "write_image", Stage: "config drive", Done: 0, Total: int64(len(d.drive))})
		part, err := disk.WriteConfigDrive(dev, d.drive, rand.Reader)
		if err != nil {
			return nil, err
		}
		m.Log.Info("config drive written", "partition", part.Number, "size", len(d.drive))
	}
	if err := dev.Flush(); err != nil {
		return nil, err
	}
	if err := dev.RereadPartitions(ctx); err != nil {
		return nil, err
	}
	id, err := identifier(dev)
	return &written{rootUUID: id}, err
}

// hasTable refuses an image without partitions: nothing would boot from it.
func hasTable(d disk.Disk) error {
	table, err := disk.ReadTable(d)
	if err != nil {
		return fmt.Errorf("the image must bring a partition table this disk's sectors of %d bytes can have: %w; an image "+
			"of a root file system alone needs instance_info/image_type=%s", d.LogicalSectorSize(), err,
			agentapi.PartitionImage)
	}
	if len(table.Parts()) == 0 {
		return errors.New("the image's partition table has no partitions")
	}
	return nil
}

// known leaves out that a check needs bytes of the image that have not come yet.
func known(err error) error {
	if errors.Is(err, disk.ErrLater) {
		return nil
	}
	return err
}

// identifier is the disk's signature in its MBR, which is zero beside a GPT.
// ironic-python-agent reports it as root UUID of a whole-disk image.
func identifier(dev Device) (string, error) {
	sector := make([]byte, 512)
	if _, err := dev.ReadAt(sector, 0); err != nil {
		return "", fmt.Errorf("read the disk's identifier: %w", err)
	}
	return fmt.Sprintf("0x%08x", binary.LittleEndian.Uint32(sector[440:])), nil
}
