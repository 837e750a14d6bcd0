package osimage

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

const (
	// grubRootSize leaves half of the root file system free.
	grubRootSize = 480 * mebibyte
	// grubInit is the program of the tiny OS, where the image has it.
	grubInit = "usr/sbin/" + tinyBinary
)

// grubSources are the files that decide what the image with GRUB is: see cached.
//
//go:embed osimage.go convert.go debian.go tiny.go grub.go
var grubSources embed.FS

// GrubRoot is the root file system of a Debian 12, and no disk: whoever has a partition
// for it boots by BIOS, from a disk or from software RAID, once its own grub-install and
// grub-mkconfig have run. Kernel and initramfs are Debian's; what they start is the
// program of the tiny OS, which reports in seconds. Building needs root, for debootstrap.
func GrubRoot(ctx context.Context, cacheDir, id string, log *slog.Logger) (Image, error) {
	ctx, cancel := context.WithTimeout(ctx, debianTimeout)
	defer cancel()
	var img Image
	err := buildTemp("", func(tmp string) error {
		program, err := tinyProgram(ctx, tmp)
		if err != nil {
			return err
		}
		sum, err := buildcache.HashFile(program)
		if err != nil {
			return err
		}
		img, err = cached(ctx, cacheDir, "grub-"+id, grubSources, []string{id, sum},
			func(ctx context.Context, dir string) (Image, error) {
				if os.Geteuid() != 0 {
					return Image{}, errors.New("debootstrap needs root")
				}
				log.Info("building Debian with GRUB, about a minute", "suite", debianSuite, "id", id)
				return buildGrubRoot(ctx, cacheDir, dir, id, program)
			})
		return err
	})
	if err != nil {
		return Image{}, err
	}
	logDone(log, img)
	return img, nil
}

func buildGrubRoot(ctx context.Context, cacheDir, dir, id, program string) (Image, error) {
	img := Image{ID: id, VirtualSize: grubRootSize, BIOS: true}
	err := buildTemp(dir, func(tmp string) error {
		root, raw := filepath.Join(tmp, "root"), filepath.Join(tmp, id+".raw")
		if err := bootstrap(ctx, cacheDir, root, grubPackages()); err != nil {
			return err
		}
		content, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(root, grubInit), content, 0o755); err != nil {
			return err
		}
		if err := configure(ctx, root, grubFiles(id), grubScript); err != nil {
			return err
		}
		if err := writeRoot(ctx, root, raw, grubRootSize); err != nil {
			return err
		}
		if err := img.convertQcow2(ctx, raw); err != nil {
			return err
		}
		return img.moveTo(dir)
	})
	if err != nil {
		return Image{}, err
	}
	return img, img.hash()
}

// grubPackages are added to debootstrap's minimal system. grub-pc, which would install
// itself onto a disk of the machine that builds this, is not among them. mdadm is what
// an initramfs assembles software RAID with, and GRUB asks what it is made of.
func grubPackages() []string {
	return []string{"grub-pc-bin", "grub2-common", "initramfs-tools", "busybox", "udev", "kmod", "zstd", "mdadm",
		"linux-image-cloud-amd64"}
}

// grubFiles are written over the installed system: path to text.
func grubFiles(id string) map[string]string {
	return map[string]string{
		"etc/image-id": id + "\n",
		"etc/fstab":    "LABEL=root / ext4 defaults 0 1\n",
		// The tiny OS needs these modules before it starts.
		"etc/initramfs-tools/modules":         strings.Join(tinyCommon().Modules, "\n") + "\n",
		"etc/initramfs-tools/conf.d/lab.conf": "MODULES=list\nCOMPRESS=zstd\n",
		// Arrays of any host, of whatever name: this image has not seen any of them.
		"etc/mdadm/mdadm.conf": "HOMEHOST <ignore>\n",
		"etc/default/grub": fmt.Sprintf(
			"GRUB_TIMEOUT=0\nGRUB_TERMINAL=console\nGRUB_DISTRIBUTOR=Debian\nGRUB_CMDLINE_LINUX=%q\n",
			consoleArgs+" init=/"+grubInit),
	}
}

// grubScript runs inside the installed system. Drivers are in the initramfs, so that of
// all others only the empty list stays. The root is mounted read-only, and stays so.
const grubScript = `
update-initramfs -u -k all
for release in /usr/lib/modules/*; do
  rm -rf $release/kernel
  depmod ${release##*/}
done
ln -sf /run/resolv.conf /etc/resolv.conf
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/bootstrap.log /usr/share/doc /usr/share/locale /usr/share/man
`
