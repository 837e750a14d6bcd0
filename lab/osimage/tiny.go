package osimage

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"

	"github.com/ferrite-metal/ferrite/images/ramdisk"
	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
	"github.com/ferrite-metal/ferrite/images/ramdisk/debian"
)

const (
	// tinyPackage is the tiny OS's only program.
	tinyPackage = "github.com/ferrite-metal/ferrite/lab/osimage/tinyos"
	// tinyBinary is that program when `make` built it beside ours.
	tinyBinary = "ferrite-tinyos"
)

// tinySources are the files that decide what a tiny image is: see cached.
//
//go:embed osimage.go disk.go esp.go uki.go convert.go tiny.go bios.go live.go large_sector.go
var tinySources embed.FS

// Tiny is an OS of one program that boots in seconds on paravirtual hardware and NVMe,
// under UEFI and BIOS. It sets its hostname from its config drive and phones home as
// cloud-init does (package tinyos). id is baked in, so that one image can be told from
// another: letters, digits, dot, dash.
func Tiny(ctx context.Context, cacheDir, id string, log *slog.Logger) (Image, error) {
	return tiny(ctx, cacheDir, id, tinyCloud(), sectorSize, log)
}

// TinyStandard is Tiny on Debian's standard kernel, for machines with whatever disks
// and cards QEMU can play. It boots a few seconds slower where the processor is emulated.
func TinyStandard(ctx context.Context, cacheDir, id string, log *slog.Logger) (Image, error) {
	return tiny(ctx, cacheDir, id, tinyStandard(), sectorSize, log)
}

// TinyLargeSectors is Tiny for disks with sectors of 4096 bytes, under UEFI alone.
func TinyLargeSectors(ctx context.Context, cacheDir, id string, log *slog.Logger) (Image, error) {
	profile := tinyCloud()
	profile.Name = "tiny-4kn"
	return tiny(ctx, cacheDir, id, profile, largeSector, log)
}

func tinyCloud() ramdisk.Profile {
	return ramdisk.Profile{
		Name:          "tiny",
		KernelPackage: "linux-image-cloud-amd64",
		Modules:       []ramdisk.Class{tinyCommon()},
	}
}

func tinyStandard() ramdisk.Profile {
	return ramdisk.Profile{
		Name:          "tiny-standard",
		KernelPackage: "linux-image-amd64",
		Modules: []ramdisk.Class{tinyCommon(), {
			Name: "emulated hardware",
			Modules: []string{"ahci", "nvme", "megaraid_sas", "xhci_pci", "usb_storage", "e1000", "e1000e",
				"vmxnet3", "8139cp"},
			Required: true,
			Load:     true,
		}},
	}
}

func tinyCommon() ramdisk.Class {
	return ramdisk.Class{
		Name: "virtual hardware, config drive, power button",
		Modules: []string{
			"virtio_pci", "virtio_rng", "virtio_net", "virtio_blk", "virtio_scsi", "sd_mod", "sr_mod",
			"nls_cp437", "nls_ascii", "nls_iso8859_1", "vfat", "isofs", "evdev", "button",
		},
		Required: true,
		Load:     true,
	}
}

func tiny(ctx context.Context, cacheDir, id string, profile ramdisk.Profile, sector int,
	log *slog.Logger) (Image, error) {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*$`).MatchString(id) {
		return Image{}, fmt.Errorf("image id %q: expected letters, digits, dots and dashes", id)
	}
	kernel, err := ramdisk.FetchKernel(ctx, &debian.Apt{}, cacheDir, profile.KernelPackage, log)
	if err != nil {
		return Image{}, err
	}
	var img Image
	err = buildTemp("", func(tmp string) error {
		program, err := tinyProgram(ctx, tmp)
		if err != nil {
			return err
		}
		packer, err := ramdisk.SourceHash()
		if err != nil {
			return err
		}
		inputs := []string{id, kernel.Package, kernel.Version, packer}
		for _, path := range []string{program, stubPath, mbrBinary} {
			sum, err := buildcache.HashFile(path)
			if err != nil {
				return fmt.Errorf("run `apt-get install systemd-boot-efi syslinux syslinux-common`: %w", err)
			}
			inputs = append(inputs, sum)
		}
		if sector == largeSector {
			sample, err := largeSample(ctx)
			if err != nil {
				return fmt.Errorf("image for sectors of %d bytes: %w", sector, err)
			}
			inputs = append(inputs, sample)
		}
		img, err = cached(ctx, cacheDir, profile.Name+"-"+id, tinySources, inputs,
			func(ctx context.Context, dir string) (Image, error) {
				log.Info("building tiny OS", "id", id, "kernel", kernel.Release)
				return buildTiny(ctx, dir,
					ramdisk.Recipe{Profile: profile, Archive: &debian.Apt{}, Agent: program, CacheDir: cacheDir, Log: log}, id,
					sector)
			})
		return err
	})
	if err != nil {
		return Image{}, err
	}
	logDone(log, img)
	return img, nil
}

// tinyProgram is the path of the tiny OS's program: beside our own, or compiled now.
func tinyProgram(ctx context.Context, tmp string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find our own program: %w", err)
	}
	beside := filepath.Join(filepath.Dir(self), tinyBinary)
	if _, err := os.Stat(beside); err == nil {
		return beside, nil
	}
	out := filepath.Join(tmp, tinyBinary)
	_, err = buildcache.Tool{
		Name: "go", Package: "golang-go", Env: []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64"},
		Args: []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", out, tinyPackage},
	}.Run(ctx)
	if err != nil {
		return "", fmt.Errorf("no %s beside %s, and compiling it failed: run in a checkout of ferrite: %w",
			tinyBinary, self, err)
	}
	return out, nil
}

// buildTiny makes all formats of the image in dir.
func buildTiny(ctx context.Context, dir string, recipe ramdisk.Recipe, id string, sector int) (Image, error) {
	img := Image{ID: id, BIOS: sector == sectorSize}
	raw := filepath.Join(dir, id+".raw")
	err := buildTemp(dir, func(tmp string) (err error) {
		recipe.Out = tmp
		idFile := filepath.Join(tmp, "image-id")
		if err := os.WriteFile(idFile, []byte(id+"\n"), 0o644); err != nil {
			return err
		}
		recipe.Site.Files = []ramdisk.File{{Path: "etc/image-id", Mode: 0o644, Source: idFile}}
		res, err := ramdisk.Build(ctx, recipe)
		if err != nil {
			return err
		}
		write := writeTinyDisk
		if sector == largeSector {
			write = writeLargeTinyDisk
		}
		img.VirtualSize, err = write(ctx, tmp, raw, id, res)
		return err
	})
	if err != nil {
		return Image{}, err
	}
	if err := img.convertQcow2(ctx, raw); err != nil {
		return Image{}, err
	}
	if err := img.packRaw(ctx, raw); err != nil {
		return Image{}, err
	}
	return img, img.hash()
}

// writeTinyDisk lays out one partition that both firmwares boot from. They cannot share
// the kernel: syslinux reads only files, and the UKI holds its parts inside.
func writeTinyDisk(ctx context.Context, tmp, raw, id string, res ramdisk.Result) (int64, error) {
	efi, config, esp := filepath.Join(tmp, "tiny.efi"), filepath.Join(tmp, "syslinux.cfg"), filepath.Join(tmp, "esp")
	if err := writeUKI(efi, tinyRelease(id), consoleArgs, res.KernelPath, res.InitramfsPath); err != nil {
		return 0, err
	}
	if err := os.WriteFile(config, []byte(syslinuxConfig(consoleArgs)), 0o644); err != nil {
		return 0, err
	}
	err := writeESP(ctx, esp, id, sectorSize, []espFile{
		{"EFI/BOOT/BOOTX64.EFI", efi}, {"vmlinuz", res.KernelPath}, {"initramfs", res.InitramfsPath},
		{"syslinux.cfg", config},
	})
	if err != nil {
		return 0, err
	}
	if err := installSyslinux(ctx, esp); err != nil {
		return 0, err
	}
	mbr, err := readMBRCode()
	if err != nil {
		return 0, err
	}
	return disk{id: id, mbrCode: mbr, partitions: []partition{{content: esp, kind: "uefi", biosBoot: true}}}.write(ctx,
		raw)
}

// writeLargeTinyDisk lays out one partition that UEFI boots from.
func writeLargeTinyDisk(ctx context.Context, tmp, raw, id string, res ramdisk.Result) (int64, error) {
	efi, esp := filepath.Join(tmp, "tiny.efi"), filepath.Join(tmp, "esp")
	if err := writeUKI(efi, tinyRelease(id), consoleArgs, res.KernelPath, res.InitramfsPath); err != nil {
		return 0, err
	}
	if err := writeESP(ctx, esp, id, largeSector, []espFile{{"EFI/BOOT/BOOTX64.EFI", efi}}); err != nil {
		return 0, err
	}
	return disk{id: id, sector: largeSector, partitions: []partition{{content: esp, kind: "uefi"}}}.write(ctx, raw)
}

// tinyRelease is what the system says of itself in os-release.
func tinyRelease(id string) string {
	return fmt.Sprintf("NAME=\"Ferrite lab OS %s\"\nID=ferrite-tiny\nVERSION_ID=%s\n", id, id)
}
