package osimage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// Live is a tiny OS in the forms that boot without a disk.
type Live struct {
	Kernel, Initramfs string // paths
	ISO               string // path; boots under UEFI only
}

// WriteLive takes the operating system out of a tiny image and writes it to dir in all
// those forms.
func (img Image) WriteLive(ctx context.Context, dir string) (Live, error) {
	l := Live{Kernel: filepath.Join(dir, "vmlinuz"), Initramfs: filepath.Join(dir, "initramfs"),
		ISO: filepath.Join(dir, "live.iso")}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return l, fmt.Errorf("live OS: %w", err)
	}
	err := buildTemp(dir, func(tmp string) error {
		esp := filepath.Join(tmp, "esp.img")
		if err := copyPartition(img.Raw, esp, img.VirtualSize-2*mebibyte); err != nil {
			return fmt.Errorf("live OS: %w", err)
		}
		for _, to := range []string{l.Kernel, l.Initramfs} {
			if err := mtool(ctx, "mcopy", "-n", "-i", esp, "::/"+filepath.Base(to), to); err != nil {
				return err
			}
		}
		// El Torito: UEFI firmware takes the boot image for an EFI system partition.
		args := []string{"-as", "mkisofs", "-quiet", "-V", "LIVE", "-o", l.ISO, "-e", filepath.Base(esp),
			"-no-emul-boot", tmp}
		_, err := buildcache.Tool{Name: "xorriso", Package: "xorriso", Args: args}.Run(ctx)
		return err
	})
	return l, err
}

// copyPartition copies the first partition, of size bytes, out of a disk image.
func copyPartition(disk, to string, size int64) error {
	in, err := os.Open(disk)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.NewSectionReader(in, firstPartition, size))
	return errors.Join(err, out.Close())
}
