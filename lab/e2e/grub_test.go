package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/osimage"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// grubMachines boot by BIOS from images that only their own GRUB makes bootable.
var grubMachines = []testCase{
	// A partition image booted by BIOS from an MBR, by its own GRUB; switched off and on again.
	{"grub-msdos", grubTime, grubLife{label: "msdos"}.run},
	// The same from a GPT with a BIOS boot partition.
	{"grub-gpt", grubTime, grubLife{label: "gpt"}.run},
	// The same from software RAID 1, and from each of its disks without the other.
	{"grub-raid", grubTime, grubLife{label: "msdos", mirrored: true}.run},
	// The same with an image of a whole disk with a named root (image_rootfs_uuid).
	{"grub-raid-whole", grubTime, grubLife{mirrored: true, whole: true}.run},
}

// grubTime bounds such a case. The first case makes the image, for which a busy machine took six minutes. The case with
// RAID took eighteen more: grub-mkconfig asks for an array's members again and again.
const grubTime = time.Hour

// grubDiskMB has room for a root of 1 GiB, a config drive and the tables.
const grubDiskMB = 1280

// grubLife is the life of a BIOS machine with a partition image.
type grubLife struct {
	label    string // the kind of partition table: disk_label
	mirrored bool   // the disk is software RAID 1 of two
	whole    bool   // the image is of a disk with one partition
}

func (l grubLife) run(ctx context.Context, b *bed) error {
	img, err := osimage.GrubRoot(ctx, b.cache, "grub", slog.New(slog.DiscardHandler))
	if err != nil {
		return fmt.Errorf("images: %w", err)
	}
	if err := b.publish(img); err != nil {
		return err
	}
	b.lap("image")
	spec := combination{qemu.BIOS, qemu.BusVirtio, "virtio"}.spec()
	spec.Disks[0].SizeMB = grubDiskMB
	if l.mirrored {
		spec.Disks = append(spec.Disks, spec.Disks[0])
	}
	return b.withMachine(ctx, spec, func(s *site.Site, m *lab.Machine) error {
		if err := l.enroll(ctx, b, s, m); err != nil {
			return err
		}
		if err := l.deploy(ctx, b, s, m, img); err != nil {
			return err
		}
		if l.mirrored {
			return bootsFromEach(ctx, b, s, m, img)
		}
		return bootsAgain(ctx, b, s, m, img, func() error { return nil })
	}, "--enable-bios-bootloader-install")
}

// enroll brings the machine to available, with its array.
func (l grubLife) enroll(ctx context.Context, b *bed, s *site.Site, m *lab.Machine) error {
	more := map[string]any{}
	if l.mirrored {
		more["raid_interface"] = "agent"
	}
	if _, err := s.Enroll(ctx, m, more); err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	if _, err := s.Ask(ctx, m.Name, "manage", "manageable"); err != nil {
		return fmt.Errorf("manage: %w", err)
	}
	if l.mirrored {
		target := map[string]any{
			"logical_disks": []any{map[string]any{"controller": "software", "raid_level": "1", "size_gb": "MAX",
				"is_root_volume": true}},
		}
		if err := s.Call(ctx, http.MethodPut, "/v1/nodes/"+m.Name+"/states/raid", target, nil); err != nil {
			return fmt.Errorf("make RAID: %w", err)
		}
		if err := b.commands(ctx, s, "node clean "+m.Name+" --wait --step raid.create_configuration"); err != nil {
			return fmt.Errorf("make RAID: %w", err)
		}
		b.lap("raid")
	}
	if _, err := s.Ask(ctx, m.Name, "provide", "available"); err != nil {
		return fmt.Errorf("provide: %w", err)
	}
	b.lap("clean")
	return nil
}

// deploy writes the image onto a partition, has its GRUB installed and wants its
// OS to report.
func (l grubLife) deploy(ctx context.Context, b *bed, s *site.Site, m *lab.Machine, img osimage.Image) error {
	info, err := l.imageInfo(ctx, b, s, img)
	if err != nil {
		return err
	}
	if err := s.Call(ctx, http.MethodPatch, "/v1/nodes/"+m.Name,
		[]nodeapi.Patch{{Op: "add", Path: "/instance_info", Value: info}}, nil); err != nil {
		return fmt.Errorf("deploy: %w", err)
	}
	asked := time.Now()
	if err := s.Provision(ctx, m.Name, "active", drive(s, metalHost)); err != nil {
		return fmt.Errorf("deploy: %w", err)
	}
	if err := booted(ctx, s, m, img.ID, metalHost, asked); err != nil {
		return err
	}
	if !l.mirrored { // which is no file here
		if err := l.onDisk(ctx, m.Spec().Disks[0].Path); err != nil {
			return err
		}
	}
	b.lap("deploy")
	return nil
}

// imageInfo is the image's part of instance_info.
func (l grubLife) imageInfo(ctx context.Context, b *bed, s *site.Site, img osimage.Image) (map[string]any, error) {
	published := image(s, img, img.Qcow2Compressed)
	info := map[string]any{"image_type": "partition", "root_gb": 1, "capabilities": map[string]any{"disk_label": l.label}}
	if l.whole {
		const root = "30000000-1111-4222-8333-444444444444"
		path, err := b.wholeDisk(ctx, img, root)
		if err != nil {
			return nil, fmt.Errorf("image of a whole disk: %w", err)
		}
		sum, err := buildcache.HashFile(path)
		if err != nil {
			return nil, err
		}
		published = site.Image{URL: s.ImagesURL + "/" + filepath.Base(path), SHA256: sum}
		info = map[string]any{"image_rootfs_uuid": root}
	}
	maps.Copy(info, map[string]any{
		"image_source": published.URL, "image_os_hash_algo": "sha256", "image_os_hash_value": published.SHA256,
		"image_disk_format": "qcow2",
	})
	return info, nil
}

// wholeDisk makes an image of a disk with an MBR. Its only partition is a root file system of that UUID.
func (b *bed) wholeDisk(ctx context.Context, img osimage.Image, uuid string) (string, error) {
	root, raw, out := filepath.Join(b.dir, "root.raw"), filepath.Join(b.dir, "whole.raw"),
		filepath.Join(b.images, b.name+".qcow2")
	disk := fmt.Sprint(raw, "?offset=", firstPartition)
	for _, tool := range []buildcache.Tool{
		{Name: "qemu-img", Package: "qemu-utils", Args: []string{"convert", "-O", "raw", img.Qcow2, root}},
		{Name: "dd", Package: "coreutils",
			Args: []string{"if=" + root, "of=" + raw, "bs=1M", "conv=sparse", fmt.Sprint("seek=", firstPartition>>20)}},
		{Name: "truncate", Package: "coreutils", Args: []string{"-s", fmt.Sprint(firstPartition + img.VirtualSize), raw}},
		{Name: "sfdisk", Package: "fdisk", Args: []string{"-q", raw},
			Stdin: fmt.Sprintf("label: dos\nstart=%d, type=83\n", firstPartition/512)},
		{Name: "tune2fs", Package: "e2fsprogs", Args: []string{"-U", uuid, disk}},
		{Name: "qemu-img", Package: "qemu-utils", Args: []string{"convert", "-f", "raw", "-O", "qcow2", raw, out}},
	} {
		if _, err := tool.Run(ctx); err != nil {
			return "", err
		}
	}
	return out, nil
}

// firstPartition is where the partition of such a disk begins, bytes.
const firstPartition = 1 << 20

// onDisk wants the requested partition table, and a GRUB that finds its root by the file system's UUID: the operating
// system does not know the disk by the ramdisk's name for it.
func (l grubLife) onDisk(ctx context.Context, disk string) error {
	said, err := buildcache.Tool{Name: "sfdisk", Package: "fdisk", Args: []string{"-J", disk}}.Run(ctx)
	if err != nil {
		return err
	}
	var read struct {
		PartitionTable struct {
			Label      string
			Partitions []struct{ Start int64 }
		}
	}
	if err := json.Unmarshal([]byte(said), &read); err != nil {
		return err
	}
	table := read.PartitionTable
	if want := map[string]string{"msdos": "dos", "gpt": "gpt"}[l.label]; table.Label != want ||
		len(table.Partitions) == 0 {
		return fmt.Errorf("the partition table is %q with %d partitions, expected %q", table.Label,
			len(table.Partitions), want)
	}
	root := table.Partitions[len(table.Partitions)-1]
	config, err := debugfs(ctx, fmt.Sprintf("%s?offset=%d", disk, root.Start*512), "cat /boot/grub/grub.cfg")
	if err == nil && !strings.Contains(config, " root=UUID=") {
		err = fmt.Errorf("GRUB does not start Linux with its root's UUID:\n%s", config)
	}
	return err
}

// bootsAgain switches a machine off, does something to it, switches it on and
// wants its OS to report.
func bootsAgain(ctx context.Context, b *bed, s *site.Site, m *lab.Machine, img osimage.Image,
	meanwhile func() error) error {
	if err := b.commands(ctx, s, "node power off "+m.Name+" --wait"); err != nil {
		return err
	}
	if err := meanwhile(); err != nil {
		return err
	}
	asked := time.Now()
	if err := b.commands(ctx, s, "node power on "+m.Name+" --wait"); err != nil {
		return err
	}
	if err := booted(ctx, s, m, img.ID, metalHost, asked); err != nil {
		return err
	}
	b.lap("boot")
	return nil
}

// bootsFromEach wants each disk of an array to boot as it was when both were there.
// SeaBIOS boots from the first disk alone: the second has to take its place.
func bootsFromEach(ctx context.Context, b *bed, s *site.Site, m *lab.Machine, img osimage.Image) error {
	first, second := m.Spec().Disks[0], m.Spec().Disks[1]
	aside := second.Path + ".aside"
	if err := bootsAgain(ctx, b, s, m, img, func() error {
		if err := os.Rename(second.Path, aside); err != nil {
			return err
		}
		return qemu.CreateDisk(ctx, second)
	}); err != nil {
		return fmt.Errorf("boot without the second disk: %w", err)
	}
	if err := bootsAgain(ctx, b, s, m, img, func() error { return os.Rename(aside, first.Path) }); err != nil {
		return fmt.Errorf("boot without the first disk: %w", err)
	}
	return nil
}
