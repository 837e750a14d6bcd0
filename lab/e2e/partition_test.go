package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// partitioned deploys an image of a root partition onto a UEFI machine. The disk is divided, and the image's EFI files
// become the EFI system partition's. The files on the ephemeral partition outlive a rebuild with another image.
func partitioned(ctx context.Context, b *bed) (err error) {
	spec := machine("metal-1", qemu.UEFI)
	spec.Disks[0].SizeMB = 4096
	s, done, err := b.site(ctx, []qemu.Spec{spec})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m := s.Machines[0]
	if _, err := readied(ctx, s, m, false); err != nil {
		return err
	}
	for i, system := range []osimage.Image{b.tiny, b.other} {
		root, err := b.rootImage(ctx, s, system, fmt.Sprintf("%d0000000-1111-4222-8333-444444444444", i+1))
		if err != nil {
			return fmt.Errorf("root image: %w", err)
		}
		if err := root.deploy(ctx, s, m, i > 0); err != nil {
			return err
		}
		var n struct {
			Internal map[string]any `json:"driver_internal_info"`
		}
		if err := s.Call(ctx, http.MethodGet, "/v1/nodes/"+m.Name, nil, &n); err != nil {
			return err
		}
		if got := n.Internal["root_uuid_or_disk_id"]; got != root.uuid {
			return fmt.Errorf("driver_internal_info/root_uuid_or_disk_id is %v, the image's is %s", got, root.uuid)
		}
		if err := root.onDisk(ctx, m.Spec().Disks[0].Path, i > 0); err != nil {
			return fmt.Errorf("what the agent has made of the disk, %s: %w", root.id, err)
		}
	}
	return nil
}

// rootFS is an image of a root partition.
type rootFS struct {
	site.Image
	id, uuid string
}

// rootImage makes the root partition of an operating system. Its EFI system partition is mounted at /boot/efi, and has
// the EFI files of a tiny image.
func (b *bed) rootImage(ctx context.Context, s *site.Site, from osimage.Image, uuid string) (rootFS, error) {
	r := rootFS{id: from.ID, uuid: uuid}
	tree, out := filepath.Join(b.dir, "root-"+from.ID), filepath.Join(b.images, "root-"+from.ID+".qcow2")
	efi, raw := filepath.Join(tree, "boot/efi/EFI/BOOT"), tree+".raw"
	if err := errors.Join(os.MkdirAll(efi, 0o755), os.MkdirAll(filepath.Join(tree, "etc"), 0o755)); err != nil {
		return r, err
	}
	if err := os.WriteFile(filepath.Join(tree, "etc/fstab"), []byte("# made at the build\n"), 0o644); err != nil {
		return r, err
	}
	for _, tool := range []buildcache.Tool{
		{Name: "mcopy", Package: "mtools", Args: []string{"-i", from.Raw + "@@1M", "::EFI/BOOT/BOOTX64.EFI", efi},
			Env: []string{"MTOOLS_SKIP_CHECK=1"}},
		{Name: "mkfs.ext4", Package: "e2fsprogs", Args: []string{"-q", "-U", uuid, "-d", tree, raw, "192M"}},
		{Name: "qemu-img", Package: "qemu-utils", Args: []string{"convert", "-O", "qcow2", raw, out}},
	} {
		if _, err := tool.Run(ctx); err != nil {
			return r, err
		}
	}
	sum, err := buildcache.HashFile(out)
	r.Image = site.Image{URL: s.ImagesURL + "/" + filepath.Base(out), SHA256: sum, Format: "qcow2"}
	return r, err
}

// deploy puts the image onto a machine, or rebuilds it with it and keeps the
// ephemeral partition.
func (r rootFS) deploy(ctx context.Context, s *site.Site, m *lab.Machine, again bool) error {
	info := map[string]any{
		"image_source": r.URL, "image_os_hash_algo": "sha256", "image_os_hash_value": r.SHA256, "image_disk_format": r.Format,
		"image_type": "partition", "root_gb": 1, "swap_mb": 128, "ephemeral_gb": 1, "preserve_ephemeral": again,
	}
	if err := s.Call(ctx, http.MethodPatch, "/v1/nodes/"+m.Name,
		[]nodeapi.Patch{{Op: "add", Path: "/instance_info", Value: info}}, nil); err != nil {
		return fmt.Errorf("deploy: %w", err)
	}
	asked, verb := time.Now(), "active"
	if again {
		verb = "rebuild"
	}
	if err := s.Provision(ctx, m.Name, verb, drive(s, "host-"+r.id)); err != nil {
		return fmt.Errorf("deploy: %w", err)
	}
	return booted(ctx, s, m, r.id, "host-"+r.id, asked)
}

// keptFile is a tenant's file on the ephemeral partition.
const keptFile = "kept"

// onDisk has Debian's programs look at the disk; the system that runs from it mounts none of it. With kept, the file on
// the ephemeral partition must be there; without, onDisk writes it.
func (r rootFS) onDisk(ctx context.Context, disk string, kept bool) error {
	said, err := buildcache.Tool{Name: "sfdisk", Package: "fdisk", Args: []string{"-J", disk}}.Run(ctx)
	if err != nil {
		return err
	}
	var read struct {
		PartitionTable struct {
			Partitions []struct {
				Start int64
				Name  string
			}
		}
	}
	if err := json.Unmarshal([]byte(said), &read); err != nil {
		return err
	}
	at, names := map[string]string{}, []string{}
	for _, p := range read.PartitionTable.Partitions {
		at[p.Name] = fmt.Sprintf("%s?offset=%d", disk, p.Start*512)
		names = append(names, p.Name)
	}
	if got, want := strings.Join(names, " "), "esp ephemeral swap config-2 root"; got != want {
		return fmt.Errorf("partitions are %q, expected %q", got, want)
	}
	for _, name := range []string{"ephemeral", "root"} {
		if _, err := (buildcache.Tool{Name: "e2fsck", Package: "e2fsprogs", Args: []string{"-fn", at[name]}}).Run(
			ctx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	fstab, err := debugfs(ctx, at["root"], "cat /etc/fstab")
	if err != nil {
		return err
	}
	if !strings.Contains(fstab, "# made at the build\nUUID=") || !strings.Contains(fstab, "\t/boot/efi\tvfat\t") {
		return fmt.Errorf("the EFI system partition is not in the root's fstab: %q", fstab)
	}
	if !kept {
		_, err := debugfs(ctx, at["ephemeral"], "mkdir "+keptFile, "-w")
		return err
	}
	list, err := debugfs(ctx, at["ephemeral"], "ls -p")
	if err == nil && !strings.Contains(list, "/"+keptFile+"/") {
		err = fmt.Errorf("the ephemeral partition was not kept: %q", list)
	}
	return err
}

func debugfs(ctx context.Context, device, command string, flags ...string) (string, error) {
	return buildcache.Tool{Name: "debugfs", Package: "e2fsprogs", Args: append(flags, "-R", command, device)}.Run(ctx)
}
