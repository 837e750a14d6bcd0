package osimage

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

const (
	// minFAT32 is the smallest FAT32 file system of 512-byte clusters, with its two
	// tables: UEFI wants FAT32 on fixed disks.
	minFAT32 = 36 * mebibyte
	// fatOverhead is what tables and folders take beside the content: 2 x 4 bytes for
	// each 512, generously rounded up.
	fatOverhead = 32
	// sourceDate is the time of every file: 1980-01-01, the first that FAT can express.
	// mtools reads SOURCE_DATE_EPOCH.
	sourceDate = "SOURCE_DATE_EPOCH=315532800"
)

// espFile is one file of an EFI system partition.
type espFile struct {
	name   string // with slashes: EFI/BOOT/BOOTX64.EFI
	source string // path
}

// writeESP makes an EFI system partition at out, large enough for its files, the same
// bytes every time: FAT32, or on large sectors, of which it has too few for that, FAT16.
func writeESP(ctx context.Context, out, id string, sector int, files []espFile) error {
	var content int64
	for _, f := range files {
		info, err := os.Stat(f.source)
		if err != nil {
			return fmt.Errorf("file for the EFI system partition: %w", err)
		}
		content += info.Size()
	}
	size := max(minFAT32, int64(alignUp(int(content+content/fatOverhead+mebibyte), mebibyte)))
	if err := errors.Join(os.WriteFile(out, nil, 0o644), os.Truncate(out, size)); err != nil {
		return fmt.Errorf("make EFI system partition: %w", err)
	}
	serial := fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(id)))
	// -h: BIOS boot code finds its sectors by the partition's start, which the file
	// system must know.
	kind := []string{"-F", "32"}
	if sector == largeSector { // a cluster each, or there are too few even for FAT16
		kind = []string{"-F", "16", "-s", "1", "-S", fmt.Sprint(sector)}
	}
	mkfs := append(kind, "-n", "ESP", "-i", serial, "--invariant", "-h", fmt.Sprint(firstPartition/sector), out)
	if _, err := (buildcache.Tool{Name: "mkfs.vfat", Package: "dosfstools", Args: mkfs}).Run(ctx); err != nil {
		return err
	}
	if folders := foldersOf(files); len(folders) > 0 {
		if err := mtool(ctx, "mmd", append([]string{"-i", out}, folders...)...); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := mtool(ctx, "mcopy", "-i", out, f.source, "::/"+f.name); err != nil {
			return err
		}
	}
	return nil
}

// foldersOf lists the folders of the files as mtools names, parents first.
func foldersOf(files []espFile) []string {
	var out []string
	for _, f := range files {
		for dir := path.Dir(f.name); dir != "."; dir = path.Dir(dir) {
			out = append(out, "::/"+dir)
		}
	}
	slices.SortFunc(out, strings.Compare)
	return slices.Compact(out)
}

func mtool(ctx context.Context, name string, args ...string) error {
	// Without MTOOLS_SKIP_CHECK mtools refuses images whose geometry it does not believe.
	_, err := buildcache.Tool{Name: name, Package: "mtools", Args: args,
		Env: []string{"MTOOLS_SKIP_CHECK=1", sourceDate}}.Run(ctx)
	return err
}
