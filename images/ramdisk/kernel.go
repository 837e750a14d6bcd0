package ramdisk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// fetchTimeout bounds download and unpacking of one kernel package (71 MB, 391 MB unpacked).
const fetchTimeout = 15 * time.Minute

// Kernel is one unpacked kernel package.
type Kernel struct {
	Package string // exact package, as linux-image-6.1.0-56-cloud-amd64
	Version string // of the package, as 6.1.192-2
	Release string // what uname -r will say, as 6.1.0-56-cloud-amd64
	Image   string // path of the bzImage
	Modules string // folder lib/modules/<release>, with the lists depmod makes
}

// FetchKernel downloads the kernel that a metapackage (linux-image-amd64,
// linux-image-cloud-amd64) stands for today and unpacks it below cacheDir. The package
// archive decides the version, apt verifies what it downloads. Nothing is installed, no
// root needed.
func FetchKernel(ctx context.Context, cacheDir, metapackage string, log *slog.Logger) (Kernel, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	k, err := resolveKernel(ctx, metapackage)
	if err != nil {
		return Kernel{}, err
	}
	key := strings.ReplaceAll(k.Package+"_"+k.Version, ":", "_")
	dir, err := buildcache.Once(ctx, filepath.Join(cacheDir, "kernels"), key, func(ctx context.Context, dir string) error {
		log.Info("downloading kernel", "package", k.Package, "version", k.Version)
		return unpackKernel(ctx, dir, k)
	})
	if err != nil {
		return Kernel{}, fmt.Errorf("kernel package %s: %w", k.Package, err)
	}
	return locateKernel(dir, k)
}

// resolveKernel follows the metapackage's dependency to the versioned package: the ABI
// number in its name moves with every update.
func resolveKernel(ctx context.Context, metapackage string) (Kernel, error) {
	out, err := buildcache.Tool{Name: "apt-cache", Package: "apt",
		Args: []string{"depends", "--important", metapackage}}.Run(ctx)
	if err != nil {
		return Kernel{}, fmt.Errorf("find package %s: run `apt-get update` as root and try again: %w", metapackage, err)
	}
	image, err := imageDependency(metapackage, out)
	if err != nil {
		return Kernel{}, err
	}
	out, err = buildcache.Tool{Name: "apt-cache", Package: "apt",
		Args: []string{"show", "--no-all-versions", image}}.Run(ctx)
	if err != nil {
		return Kernel{}, fmt.Errorf("find package %s: run `apt-get update` as root and try again: %w", image, err)
	}
	version := controlField(out, "Version")
	if version == "" {
		return Kernel{}, fmt.Errorf("package %s: apt-cache shows no version: run `apt-get update` as root and try again",
			image)
	}
	return Kernel{Package: image, Version: version}, nil
}

// imageDependency finds the versioned kernel package in what `apt-cache depends` printed.
func imageDependency(metapackage, depends string) (string, error) {
	for line := range strings.Lines(depends) {
		_, name, found := strings.Cut(strings.TrimSpace(line), "Depends: ")
		if found && strings.HasPrefix(name, "linux-image-") {
			return name, nil
		}
	}
	return "", fmt.Errorf("package %s depends on no linux-image package: run `apt-get update` as root and try again",
		metapackage)
}

// controlField returns the first field of that name in a Debian control paragraph.
func controlField(paragraph, name string) string {
	for line := range strings.Lines(paragraph) {
		if value, found := strings.CutPrefix(line, name+": "); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func unpackKernel(ctx context.Context, dir string, k Kernel) error {
	// Run as root, apt would download as user _apt, who may not write into our folder.
	download := []string{"download", "-q", "-o", "APT::Sandbox::User=root", k.Package + "=" + k.Version}
	if _, err := (buildcache.Tool{Name: "apt-get", Package: "apt", Args: download, Dir: dir}).Run(ctx); err != nil {
		return err
	}
	debs, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(debs) != 1 {
		return errors.Join(fmt.Errorf("apt-get download left %d .deb files, expected 1", len(debs)), err)
	}
	if _, err := (buildcache.Tool{Name: "dpkg-deb", Package: "dpkg",
		Args: []string{"-x", debs[0], dir}}).Run(ctx); err != nil {
		return err
	}
	if err := os.Remove(debs[0]); err != nil {
		return fmt.Errorf("remove unpacked package: %w", err)
	}
	found, err := locateKernel(dir, k)
	if err != nil {
		return err
	}
	// The package has no modules.dep or modules.alias: its postinst makes them on the
	// machine it is installed on.
	_, err = buildcache.Tool{Name: "depmod", Package: "kmod", Args: []string{"-b", dir, found.Release}}.Run(ctx)
	return err
}

// locateKernel fills in the fields that only the unpacked package shows.
func locateKernel(dir string, k Kernel) (Kernel, error) {
	images, err := filepath.Glob(filepath.Join(dir, "boot", "vmlinuz-*"))
	if err != nil || len(images) != 1 {
		return Kernel{}, errors.Join(fmt.Errorf("package %s has %d files boot/vmlinuz-*, expected 1", k.Package,
			len(images)), err)
	}
	k.Image = images[0]
	k.Release = strings.TrimPrefix(filepath.Base(k.Image), "vmlinuz-")
	k.Modules = filepath.Join(dir, "lib", "modules", k.Release)
	if _, err := os.Stat(k.Modules); err != nil {
		return Kernel{}, fmt.Errorf("package %s has no modules for its kernel: %w", k.Package, err)
	}
	return k, nil
}
