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
	"time"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

const (
	debianSuite = "bookworm"
	// debianTimeout bounds the whole build, downloads included: it takes two minutes on
	// two processors.
	debianTimeout = 30 * time.Minute
	// debianRootSize leaves a third of the root file system free.
	debianRootSize = 1400 * mebibyte
	debianCmdline  = "root=LABEL=root rw " + consoleArgs
)

// debianSources are the files that decide what the Debian image is: see cached.
//
//go:embed osimage.go disk.go esp.go uki.go convert.go debian.go debian_files.go
var debianSources embed.FS

// Debian is Debian 12 with its own cloud-init reading a config drive: hostname, user
// data, phone_home and network data all work as on any cloud. It boots under UEFI only
// and comes as qcow2. Building needs root, for debootstrap; nothing is mounted outside
// namespaces that vanish with their processes, however the build ends.
func Debian(ctx context.Context, cacheDir string, log *slog.Logger) (Image, error) {
	ctx, cancel := context.WithTimeout(ctx, debianTimeout)
	defer cancel()
	stub, err := buildcache.HashFile(stubPath)
	if err != nil {
		return Image{}, fmt.Errorf("run `apt-get install systemd-boot-efi`: %w", err)
	}
	img, err := cached(ctx, cacheDir, "debian-"+debianSuite, debianSources, []string{stub},
		func(ctx context.Context, dir string) (Image, error) {
			if os.Geteuid() != 0 {
				return Image{}, errors.New("debootstrap needs root")
			}
			log.Info("building Debian with cloud-init, about two minutes", "suite", debianSuite)
			return buildDebian(ctx, cacheDir, dir, log)
		})
	if err != nil {
		return Image{}, err
	}
	logDone(log, img)
	return img, nil
}

func buildDebian(ctx context.Context, cacheDir, dir string, log *slog.Logger) (Image, error) {
	img := Image{ID: "debian-" + debianSuite}
	err := buildTemp(dir, func(tmp string) error {
		root := filepath.Join(tmp, "root")
		if err := bootstrap(ctx, cacheDir, root, debianPackages()); err != nil {
			return err
		}
		log.Info("Debian packages installed, making the disk")
		if err := configure(ctx, root, debianFiles(), debianScript); err != nil {
			return err
		}
		raw := filepath.Join(tmp, img.ID+".raw")
		size, err := writeDebianDisk(ctx, tmp, root, raw, img.ID)
		if err != nil {
			return err
		}
		img.VirtualSize = size
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

// moveTo moves the image's files into dir: the raw one, far larger, stays where it is
// and goes with the temporary folder.
func (img *Image) moveTo(dir string) error {
	for _, path := range []*string{&img.Qcow2, &img.Qcow2Compressed} {
		to := filepath.Join(dir, filepath.Base(*path))
		if err := os.Rename(*path, to); err != nil {
			return err
		}
		*path = to
	}
	return nil
}

// isolated runs a program in mount and process namespaces of its own: whatever it
// mounts and starts ends with it, killed or not.
func isolated(ctx context.Context, options []string, args ...string) error {
	unshare := append([]string{"--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"}, options...)
	_, err := buildcache.Tool{
		Name: "unshare", Package: "util-linux", Args: append(append(unshare, "--"), args...),
		// dpkg need not sync every file: Once syncs the finished image.
		Env: []string{"DEBIAN_FRONTEND=noninteractive", "DPKG_FORCE=unsafe-io"},
	}.Run(ctx)
	return err
}

// bootstrap installs Debian's minimal system with more packages into a folder.
func bootstrap(ctx context.Context, cacheDir, root string, packages []string) error {
	debs := filepath.Join(cacheDir, "debs")
	if err := os.MkdirAll(debs, 0o755); err != nil {
		return fmt.Errorf("make folder for packages: %w", err)
	}
	debs, err := filepath.Abs(debs)
	if err != nil {
		return err
	}
	if _, err := (buildcache.Tool{Name: "debootstrap", Package: "debootstrap", Args: []string{"--version"}}).Run(
		ctx); err != nil {
		return err
	}
	return isolated(ctx, nil, "debootstrap", "--variant=minbase", "--cache-dir="+debs,
		"--include="+strings.Join(packages, ","), debianSuite, root)
}

// configure writes files over an installed system, path to text, and runs a script in it.
func configure(ctx context.Context, root string, files map[string]string, script string) error {
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return isolated(ctx, []string{"--root", root, "--mount-proc"}, "/bin/sh", "-ec", script)
}

func writeDebianDisk(ctx context.Context, tmp, root, raw, id string) (int64, error) {
	kernel, initramfs, err := debianKernel(root)
	if err != nil {
		return 0, err
	}
	release, err := os.ReadFile(filepath.Join(root, "usr/lib/os-release"))
	if err != nil {
		return 0, err
	}
	efi, esp, rootfs := filepath.Join(tmp, "debian.efi"), filepath.Join(tmp, "esp"), filepath.Join(tmp, "rootfs")
	if err := writeUKI(efi, string(release), debianCmdline, kernel, initramfs); err != nil {
		return 0, err
	}
	if err := writeESP(ctx, esp, id, sectorSize, []espFile{{"EFI/BOOT/BOOTX64.EFI", efi}}); err != nil {
		return 0, err
	}
	if err := writeRoot(ctx, root, rootfs, debianRootSize); err != nil {
		return 0, err
	}
	return disk{id: id, partitions: []partition{{content: esp, kind: "uefi"}, {content: rootfs, kind: "linux"}}}.write(ctx,
		raw)
}

// writeRoot makes the file system at path with what is in the folder root.
func writeRoot(ctx context.Context, root, path string, size int64) error {
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
		return err
	}
	args := []string{"-q", "-t", "ext4", "-L", "root", "-d", root, path}
	_, err := buildcache.Tool{Name: "mke2fs", Package: "e2fsprogs", Args: args}.Run(ctx)
	return err
}

// debianKernel finds the one kernel that was installed.
func debianKernel(root string) (kernel, initramfs string, err error) {
	found, err := filepath.Glob(filepath.Join(root, "boot", "vmlinuz-*"))
	if err != nil || len(found) != 1 {
		return "", "", errors.Join(fmt.Errorf("installed system has %d kernels, expected 1", len(found)), err)
	}
	release := strings.TrimPrefix(filepath.Base(found[0]), "vmlinuz-")
	return found[0], filepath.Join(root, "boot", "initrd.img-"+release), nil
}
