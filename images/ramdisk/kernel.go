package ramdisk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
	"github.com/ferrite-metal/ferrite/images/ramdisk/debian"
)

// fetchTimeout bounds download and unpacking of one package. A kernel's has 71 MB, 391 MB unpacked.
const fetchTimeout = 15 * time.Minute

// Kernel is a kernel with its modules.
type Kernel struct {
	Package string // exact package, as linux-image-6.1.0-56-cloud-amd64
	Version string // of the package, as 6.1.192-2
	SHA256  string // of the package, in hex; "" for a kernel that is none
	Release string // output of uname -r, as 6.1.0-56-cloud-amd64
	Image   string // path of the bzImage
	Modules string // folder lib/modules/<release>, with the lists depmod makes
}

// FetchKernel downloads the kernel that a metapackage (linux-image-amd64, linux-image-cloud-amd64) depends on today,
// and unpacks it below cacheDir. NAME/SUITE takes it from that suite, as linux-image-amd64/bookworm-backports. The
// package archive decides the version and verifies its download. Nothing is installed, no root needed.
func FetchKernel(ctx context.Context, from debian.Archive, cacheDir, name string, log *slog.Logger) (Kernel, error) {
	name, suite, _ := strings.Cut(name, "/")
	p, err := resolveKernel(ctx, from, name, suite)
	if err != nil {
		return Kernel{}, err
	}
	dir, err := unpacked(ctx, from, p, purpose{folder: "kernels", want: ofKernel, after: indexKernel}, cacheDir, log)
	if err != nil {
		return Kernel{}, fmt.Errorf("kernel %w", err)
	}
	return locateKernel(dir, Kernel{Package: p.Name, Version: p.Version, SHA256: p.SHA256})
}

// resolveKernel follows the metapackage's dependency to the versioned package: the ABI number in its name moves with
// every update. A package without one is a kernel itself.
func resolveKernel(ctx context.Context, from debian.Archive, name, suite string) (debian.Package, error) {
	p, err := from.Find(ctx, name, suite)
	if err != nil {
		return debian.Package{}, err
	}
	for _, dep := range p.Depends {
		if strings.HasPrefix(dep, "linux-image-") {
			return from.Find(ctx, dep, suite)
		}
	}
	return p, nil
}

// purpose is why a package is unpacked.
type purpose struct {
	folder string                 // of the cache
	want   func(name string) bool // files to unpack
	after  func(dir string) error // work on the unpacked files; nil for none
}

// unpacked returns the folder with the wanted files of a package, out of the cache where it has them.
func unpacked(ctx context.Context, from debian.Archive, p debian.Package, why purpose, cacheDir string,
	log *slog.Logger) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	key := strings.ReplaceAll(p.Name+"_"+p.Version, ":", "_") + "_" + p.SHA256[:16]
	dir, err := buildcache.Once(ctx, filepath.Join(cacheDir, why.folder), key,
		func(ctx context.Context, dir string) error {
			log.Info("downloading package", "package", p.Name, "version", p.Version)
			deb, err := from.Fetch(ctx, p, dir)
			if err != nil {
				return err
			}
			if err := errors.Join(debian.Unpack(ctx, deb, dir, why.want), os.Remove(deb)); err != nil {
				return err
			}
			if why.after == nil {
				return nil
			}
			return why.after(dir)
		})
	if err != nil {
		return "", fmt.Errorf("package %s: %w", p.Name, err)
	}
	return dir, nil
}

func ofKernel(name string) bool {
	name = strings.TrimPrefix(name, "usr/")
	return strings.HasPrefix(name, "boot/vmlinuz-") || strings.HasPrefix(name, "lib/modules/") || isCopyright(name)
}

// isCopyright says whether a file, its name without "usr/", is the licence of a Debian package.
func isCopyright(name string) bool {
	return strings.HasPrefix(name, "share/doc/") && path.Base(name) == "copyright"
}

func indexKernel(dir string) error {
	k, err := locateKernel(dir, Kernel{})
	if err != nil {
		return err
	}
	return indexModules(k.Modules)
}

// locateKernel fills in the fields that only the unpacked package shows. From Debian 13 on, modules are below /usr.
func locateKernel(dir string, k Kernel) (Kernel, error) {
	images, err := filepath.Glob(filepath.Join(dir, "boot", "vmlinuz-*"))
	if err != nil || len(images) != 1 {
		return Kernel{}, errors.Join(fmt.Errorf("package %s has %d files boot/vmlinuz-*, expected 1: is it a kernel?",
			k.Package, len(images)), err)
	}
	k.Image = images[0]
	k.Release = strings.TrimPrefix(filepath.Base(k.Image), "vmlinuz-")
	for _, below := range []string{"lib", "usr/lib"} {
		k.Modules = filepath.Join(dir, below, "modules", k.Release)
		if _, err = os.Stat(k.Modules); err == nil {
			return k, nil
		}
	}
	return Kernel{}, fmt.Errorf("package %s has no modules for its kernel: %w", k.Package, err)
}
