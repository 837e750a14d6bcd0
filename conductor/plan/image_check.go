package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
	"github.com/ferrite-metal/ferrite/proto/rootdevice"
)

// ImageURLs is where agents fetch a node's image by themselves: image_source, then its
// mirrors; none where the conductor finds it, or nothing is written.
func ImageURLs(n node.Node) []string {
	at := ImageSource(n)
	src, ok := sourceOf(at)
	if !ok || !src.direct {
		return nil
	}
	urls := []string{at}
	mirrors, _ := imageMirrors(n, src) // refused elsewhere
	for _, m := range mirrors {
		urls = append(urls, fmt.Sprint(m))
	}
	return urls
}

// imageFits refuses a deploy before the machine is switched off, if its image is known to be missing, of another kind
// or too large.
// Doubts go into the run.
func imageFits(d *decision, r Request) error {
	if r.Image == nil {
		return nil
	}
	wrong := r.Image.Gone
	if format := text(d.n.InstanceInfo, "image_disk_format"); format != "raw" && format != "gpt" {
		wrong = cmp.Or(wrong, r.Image.ISO)
	}
	if wrong != "" {
		return node.Refuse(node.Invalid, "node %s cannot be deployed: image %s", d.n.UUID, wrong)
	}
	if r.Image.Unseen && d.f.Settings.RequireImageCheck {
		return node.Refuse(node.Invalid, "node %s cannot be deployed: the image could not be checked, which this conductor "+
			"requires (--check-image=require): %s: have it reach the server, or add the image to the conductor with: "+
			"ferrite image add NAME FILE", d.n.UUID, nodeapi.Printable(r.Image.Doubt))
	}
	if r.Image.Doubt != "" {
		d.doubts = append(d.doubts, "the image could not be checked before the deploy: "+nodeapi.Printable(r.Image.Doubt))
	}
	if r.Image.Size <= 0 {
		return nil
	}
	if IsPartitionImage(d.n) {
		return d.fitsPartition(r.Image.Size)
	}
	return d.fitsDisk(r)
}

// ImageFormats are the formats of images that agents write to disks.
func ImageFormats() []string { return []string{"raw", "qcow2"} }

// formatPermitted refuses an image of a stated format that the conductor does not permit (Ironic's
// [conductor]permitted_image_formats). An image with another format, or none, is left to the agent, which looks at its
// content.
func formatPermitted(d *decision, _ Request) error {
	format, permitted := text(d.n.InstanceInfo, "image_disk_format"), d.f.Settings.ImageFormats
	if format == "gpt" { // Ironic's word for a raw image of a whole disk
		format = "raw"
	}
	if !slices.Contains(ImageFormats(), format) || slices.Contains(permitted, format) || len(permitted) == 0 {
		return nil
	}
	return node.Refuse(node.Invalid, "node %s cannot be deployed: instance_info/image_disk_format is %s, and this "+
		"conductor permits %s (--permitted-image-formats): convert the image with qemu-img convert", d.n.UUID, format,
		strings.Join(permitted, ", "))
}

// fitsPartition compares the image of a root file system with instance_info/root_gb.
func (d *decision) fitsPartition(size int64) error {
	gib, err := strconv.ParseInt(text(d.n.InstanceInfo, "root_gb"), 10, 64)
	if err != nil || gib > maxRootGiB || size <= gib<<30 {
		return nil //nolint:nilerr // another check refuses it
	}
	return node.Refuse(node.Invalid,
		"node %s cannot be deployed: image %s needs %s; its partition is %s: raise instance_info/root_gb (%d), or use a "+
			"smaller image", d.n.UUID, nodeapi.MaskText(ImageSource(d.n)), gb(size), gb(gib<<30), gib)
}

// maxRootGiB is more than any disk has, and no number that overflows as bytes.
const maxRootGiB = 1 << 30

// fitsDisk compares an image with the disk that it would be written to, by the last inspection. If RAID is configured
// first, that disk is not known yet.
func (d *decision) fitsDisk(r Request) error {
	if len(d.f.Inventory.Disks) == 0 || len(d.n.TargetRAIDConfig) > 0 || len(d.n.RAIDConfig) > 0 ||
		slices.ContainsFunc(d.asked("deploy", r), func(s node.Step) bool { return s.Interface == "raid" }) {
		return nil
	}
	wish, err := rootdevice.WishOf(nil, d.n.InstanceInfo, d.n.Properties)
	if err != nil {
		return nil //nolint:nilerr // another check refuses it
	}
	wish.Need = r.Image.Size
	disk, _, err := rootdevice.Choose(d.f.Inventory.Disks, nil, wish)
	whose := "the disk that " + wish.Hints.String() + " selects"
	if errors.Is(err, rootdevice.ErrNoDisk) && len(wish.Hints) == 0 {
		disk, err = largest(d.f.Inventory.Disks), nil
		whose = "the largest disk of the machine"
	}
	switch {
	case err != nil: // a disk may have been added since
		d.doubts = append(d.doubts, "by the last inspection no disk would be taken: "+err.Error())
		return nil
	case disk.Size >= r.Image.Size:
		return nil
	}
	return node.Refuse(node.Invalid,
		"node %s cannot be deployed: image %s needs %s; %s, %s, is %s: use a smaller image or another disk "+
			"(ferrite node root-device %s shows them); if the disks were changed since the last inspection, inspect "+
			"the node again",
		d.n.UUID, nodeapi.MaskText(ImageSource(d.n)), gbBeside(r.Image.Size, disk.Size), whose, disk.Name,
		gbBeside(disk.Size, r.Image.Size), cmp.Or(d.n.Name, d.n.UUID))
}

func largest(disks []agentapi.Disk) agentapi.Disk {
	return slices.MaxFunc(disks, func(a, b agentapi.Disk) int { return int(min(max(a.Size-b.Size, -1), 1)) })
}

// gb is a size for people.
func gb(bytes int64) string { return fmt.Sprintf("%.1f GB", float64(bytes)/1e9) }

// gbBeside is gb, with the bytes where the other size reads the same.
func gbBeside(bytes, other int64) string {
	if gb(bytes) == gb(other) {
		return fmt.Sprintf("%s (%d bytes)", gb(bytes), bytes)
	}
	return gb(bytes)
}
