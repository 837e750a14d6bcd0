package osimage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

const (
	mebibyte = 1 << 20
	// firstPartition is where the first one starts: sector 2048, as every partitioning
	// tool does.
	firstPartition = 1 * mebibyte
	sectorSize     = 512
	// mbrCodeSize is how much of sector 0 is boot code; disk signature and protective
	// partition follow.
	mbrCodeSize = 440
)

// partition is one entry of a GPT and the file with its content.
type partition struct {
	content string // path; its size, a multiple of 1 MiB, is the partition's
	kind    string // sfdisk's type alias: uefi, linux
	// biosBoot sets attribute bit 2, legacy BIOS bootable: gptmbr.bin starts the
	// partition that has it.
	biosBoot bool
}

// disk is a GPT disk image to be.
type disk struct {
	id         string // names the disk's and partitions' GUIDs, so that they are the same in every build
	partitions []partition
	mbrCode    []byte // BIOS boot code, at most 440 bytes; none when nil
	sector     int    // bytes; 0 is 512, the other is largeSector
}

// write makes the raw image at path, sparse, and returns its size. The backup header is
// in its last sector.
func (d disk) write(ctx context.Context, path string) (int64, error) {
	size := int64(firstPartition)
	var script strings.Builder
	fmt.Fprintf(&script, "label: gpt\nlabel-id: %s\n", d.guid("disk"))
	for i, p := range d.partitions {
		info, err := os.Stat(p.content)
		if err != nil {
			return 0, fmt.Errorf("partition %d: %w", i+1, err)
		}
		attrs := ""
		if p.biosBoot {
			attrs = ", attrs=LegacyBIOSBootable"
		}
		fmt.Fprintf(&script, "start=%d, size=%d, type=%s, uuid=%s%s\n", size/sectorSize, info.Size()/sectorSize, p.kind,
			d.guid(fmt.Sprint(i)), attrs)
		size += info.Size()
	}
	size += mebibyte // for the backup table
	if err := d.lay(path, size); err != nil {
		return 0, fmt.Errorf("write disk image: %w", err)
	}
	if d.sector == largeSector {
		return size, d.writeLargeTable(path, size)
	}
	_, err := buildcache.Tool{Name: "sfdisk", Package: "fdisk", Args: []string{"--quiet", "--no-reread", path},
		Stdin: script.String()}.Run(ctx)
	return size, err
}

func (d disk) guid(of string) string {
	return strings.ToUpper(uuid.NewSHA1(uuid.NameSpaceURL, []byte("ferrite-lab/"+d.id+"/"+of)).String())
}

// lay writes boot code and partitions where they belong.
func (d disk) lay(path string, size int64) (err error) {
	if len(d.mbrCode) > mbrCodeSize {
		return fmt.Errorf("boot code has %d bytes, room is for %d", len(d.mbrCode), mbrCodeSize)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(size); err != nil {
		return err
	}
	if _, err := f.WriteAt(d.mbrCode, 0); err != nil {
		return err
	}
	at := int64(firstPartition)
	for _, p := range d.partitions {
		n, err := copySparse(f, at, p.content)
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// copySparse copies a file into f at an offset, leaving holes where it has nothing but
// zeros, and returns its size.
func copySparse(f *os.File, at int64, path string) (int64, error) {
	src, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	buf, zeros := make([]byte, 64<<10), string(make([]byte, 64<<10))
	var done int64
	for {
		n, err := io.ReadFull(src, buf)
		if string(buf[:n]) != zeros[:n] {
			if _, err := f.WriteAt(buf[:n], at+done); err != nil {
				return done, err
			}
		}
		done += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return done, nil
		}
		if err != nil {
			return done, err
		}
	}
}
