package osimage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	agentdisk "github.com/ferrite-metal/ferrite/agent/disk"
	imagedisk "github.com/ferrite-metal/ferrite/images/disk"
	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// largeSector is that of disks called 4Kn, in bytes. Their partition tables and file
// systems count in it, so that they need images of their own; and BIOS boots from none.
const largeSector = 4096

// espType is an EFI system partition's (UEFI specification, table 5-7).
const espType = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"

// writeLargeTable writes the partition table of an image for disks of large sectors,
// which sfdisk does on nothing but such a disk. The partitions are laid already.
func (d disk) writeLargeTable(path string, size int64) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	kind, err := agentdisk.ParseGUID(espType)
	if err != nil {
		return err
	}
	id, err := agentdisk.ParseGUID(strings.ToLower(d.guid("disk")))
	if err != nil {
		return err
	}
	to := largeFile{f, size}
	table := agentdisk.NewGPT(to, id)
	for i, p := range d.partitions {
		info, err := os.Stat(p.content)
		if err != nil {
			return fmt.Errorf("partition %d: %w", i+1, err)
		}
		guid, err := uuid.Parse(d.guid(fmt.Sprint(i)))
		if err != nil {
			return err
		}
		if _, err := table.AddNext(info.Size(), kind, "", strings.NewReader(string(guid[:]))); err != nil {
			return err
		}
	}
	return table.Write(to)
}

// largeSample is the hash of an image of one empty partition. It is part of the name in
// the cache of every image for large sectors: the table comes from package agent/disk,
// whose sources are not among those that cached knows.
func largeSample(ctx context.Context) (sum string, err error) {
	err = buildTemp("", func(tmp string) error {
		empty, raw := filepath.Join(tmp, "partition"), filepath.Join(tmp, "disk")
		if err := os.WriteFile(empty, make([]byte, mebibyte), 0o644); err != nil {
			return err
		}
		if _, err := (disk{id: "sample", sector: largeSector, partitions: []partition{{content: empty}}}).write(ctx,
			raw); err != nil {
			return err
		}
		sum, err = buildcache.HashFile(raw)
		return err
	})
	return sum, err
}

// largeFile is an image file as a disk of large sectors.
type largeFile struct {
	*os.File
	size int64
}

// Zero writes zeroes.
func (f largeFile) Zero(off, n int64) error { return imagedisk.WriteZeros(f, off, n) }

// Size is the image's.
func (f largeFile) Size() int64 { return f.size }

// LogicalSectorSize is largeSector.
func (f largeFile) LogicalSectorSize() int { return largeSector }

// Flush writes to the medium.
func (f largeFile) Flush() error { return f.Sync() }
