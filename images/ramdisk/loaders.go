package ramdisk

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ferrite-metal/ferrite/images/bootiso"
	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
	"github.com/ferrite-metal/ferrite/images/ramdisk/debian"
)

// loaders are the boot loaders of a boot medium (package bootiso), as files of Debian's packages.
var loaders = []struct{ pkg, file string }{
	{"isolinux", "usr/lib/ISOLINUX/isolinux.bin"},
	{"isolinux", "usr/lib/ISOLINUX/isohdpfx.bin"},
	{"syslinux-common", "usr/lib/syslinux/modules/bios/ldlinux.c32"},
	{"grub-efi-amd64-bin", "usr/lib/grub/x86_64-efi/monolithic/gcdx64.efi"},
}

// FetchLoaders puts the boot loaders of a boot medium into the folder bootiso.Folder of out, and
// returns its path. Nothing is installed, no root needed.
func FetchLoaders(ctx context.Context, from debian.Archive, cacheDir, out string, log *slog.Logger) (string, error) {
	folder := filepath.Join(out, bootiso.Folder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("make the folder of boot loaders: %w", err)
	}
	for _, l := range loaders {
		p, err := from.Find(ctx, l.pkg, "")
		if err != nil {
			return "", fmt.Errorf("boot loader of a boot medium: package %s: %w: %s", l.pkg, err, from.Missing())
		}
		dir, err := unpacked(ctx, from, p, purpose{folder: "loaders", want: ofLoaders}, cacheDir, log)
		if err != nil {
			return "", fmt.Errorf("boot loader of a boot medium: %w", err)
		}
		if _, _, err := copyFile(filepath.Join(dir, l.file), filepath.Join(folder, path.Base(l.file))); err != nil {
			return "", fmt.Errorf("boot loader %s of package %s %s: %w", l.file, p.Name, p.Version, err)
		}
	}
	return folder, nil
}

func ofLoaders(name string) bool {
	for _, l := range loaders {
		if strings.TrimPrefix(name, "usr/") == strings.TrimPrefix(l.file, "usr/") {
			return true
		}
	}
	return false
}

// copyFile makes a copy that appears complete or not at all. It returns SHA-256 in hex and size.
func copyFile(from, to string) (string, int64, error) {
	return buildcache.WriteFile(to, func(w io.Writer) error {
		f, err := os.Open(from)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	})
}
