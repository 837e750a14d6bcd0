package plan

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The keys in driver_internal_info for a partition image, under Ironic's names. They stay as long as the instance.
const (
	isWholeDisk = "is_whole_disk_image"
	rootUUID    = "root_uuid_or_disk_id"
	deployedAs  = "instance" // the layout, which a rebuild that keeps data may not change
)

// IsPartitionImage reports whether a node's image is the content of a root partition, for which the disk is divided.
// Without an image type it guesses as Ironic does: an image with a kernel or ramdisk beside it is one.
func IsPartitionImage(n node.Node) bool {
	if ImageSource(n) == "" {
		return false
	}
	switch text(n.InstanceInfo, "image_type") {
	case agentapi.PartitionImage:
		return true
	case "":
		if whole, known := n.DriverInternalInfo[isWholeDisk].(bool); known && node.GlanceImage(ImageSource(n)) != "" {
			return !whole
		}
		beside := text(n.InstanceInfo, "kernel") != "" || text(n.InstanceInfo, "ramdisk") != ""
		return beside && !strings.HasPrefix(ImageSource(n), "oci:") // OCI artifacts are whole disks
	}
	return false
}

// WithImage notes facts of an image that only its catalogue has, until the instance ends: its type, or the kernel and
// the ramdisk that it names.
func WithImage(n node.Node, found node.ImageFound) node.Node {
	if found.Type == "" && found.Kernel == "" {
		return n
	}
	n.DriverInternalInfo = maps.Clone(n.DriverInternalInfo)
	if n.DriverInternalInfo == nil {
		n.DriverInternalInfo = map[string]any{}
	}
	if found.Type != "" {
		n.DriverInternalInfo[isWholeDisk] = found.Type == agentapi.WholeDisk
	}
	if found.Kernel != "" {
		n.DriverInternalInfo[node.ImageBootFiles] = map[string]any{"image": node.GlanceImage(RamdiskSource(n)),
			"kernel": found.Kernel, "ramdisk": found.Ramdisk, "owner": found.Owner}
	}
	return n
}

// layoutField is a size of instance_info.
type layoutField struct {
	key, unit string
	sent      string // that agents receive, in MiB
	mib       int64  // of the unit
	least     int64
}

// layoutFields are the sizes of a partition image's disk. Ironic's other names
// for them (root_mb and so on) are only the agent's.
var layoutFields = []layoutField{
	{"root_gb", "GiB", "root_mb", 1024, 1},
	{"swap_mb", "MiB", "swap_mb", 1, 0},
	{"ephemeral_gb", "GiB", "ephemeral_mb", 1024, 0},
}

// defaultEphemeralFormat is Ironic's [pxe]default_ephemeral_format. Its conductor
// fills it in: ironic-python-agent has no default of its own.
const defaultEphemeralFormat = "ext4"

// maxLayoutMiB is more than any disk has.
const maxLayoutMiB = 1 << 40

// layoutFits refuses a partition image if the disk could not be divided for it. Sizes beside an image of a whole disk
// are ignored, and are no error: Nova sends them with every instance.
func layoutFits(n node.Node) error {
	if kind := text(n.InstanceInfo, "image_type"); kind != "" && kind != agentapi.WholeDisk &&
		kind != agentapi.PartitionImage {
		return node.Refuse(node.Invalid, "node %s cannot be deployed: instance_info/image_type is %q, expected %s or %s",
			n.UUID, kind, agentapi.WholeDisk, agentapi.PartitionImage)
	}
	if !IsPartitionImage(n) {
		return ephemeralUnharmed(n)
	}
	sizes := map[string]int64{}
	for _, f := range layoutFields {
		given := n.InstanceInfo[f.key]
		size, err := wholeNumber(given)
		if err != nil || size < f.least || size > maxLayoutMiB/f.mib {
			if given == nil {
				given = "missing"
			}
			return node.Refuse(node.Invalid,
				"node %s cannot be deployed: instance_info/%s is %v, expected a whole number of %s, at least %d: its image is of "+
					"a partition, and the disk is divided for it",
				n.UUID, f.key, given, f.unit, f.least)
		}
		sizes[f.key] = size
	}
	keep, err := preserves(n)
	if err != nil {
		return err
	}
	if label := diskLabel(n); label != "" && label != "gpt" && label != "msdos" {
		return node.Refuse(node.Invalid, "node %s cannot be deployed: the capability disk_label is %q, expected gpt or msdos",
			n.UUID, label)
	}
	if option := capability(n.InstanceInfo, "boot_option"); option != "" && option != "local" {
		return node.Refuse(node.Invalid,
			"node %s cannot be deployed: the capability boot_option is %q, expected local: partition images are booted from "+
				"the disk they are on", n.UUID, option)
	}
	if keep {
		return layoutUnchanged(n, sizes)
	}
	return nil
}

// ephemeralUnharmed refuses an image of a whole disk if the instance keeps its ephemeral partition.
func ephemeralUnharmed(n node.Node) error {
	before, _ := n.DriverInternalInfo[deployedAs].(map[string]any)
	had, err := wholeNumber(before["ephemeral_gb"])
	if err != nil || had == 0 {
		return nil //nolint:nilerr // there is none
	}
	if keep, err := preserves(n); err != nil || !keep {
		return err
	}
	return node.Refuse(node.Invalid,
		"node %s cannot be deployed: preserve_ephemeral is to keep the instance's partition of %d GiB, and an image of a "+
			"whole disk takes all of it", n.UUID, had)
}

// layoutUnchanged refuses to keep the ephemeral partition of an instance if the new layout would move the partitions.
func layoutUnchanged(n node.Node, sizes map[string]int64) error {
	before, ok := n.DriverInternalInfo[deployedAs].(map[string]any)
	if !ok && sizes["ephemeral_gb"] == 0 {
		return node.Refuse(node.Invalid,
			"node %s cannot be deployed: preserve_ephemeral keeps the partition of instance_info/ephemeral_gb, which is none, "+
				"and all data on the disk would be lost", n.UUID)
	}
	if !ok {
		return nil // not deployed by us: the agent looks at the disk itself
	}
	for _, f := range layoutFields {
		if had, err := wholeNumber(before[f.key]); err != nil || had != sizes[f.key] {
			return node.Refuse(node.Invalid,
				"node %s cannot be deployed: preserve_ephemeral needs the disk divided as it is, and instance_info/%s is %d, "+
					"where the instance was deployed with %v",
				n.UUID, f.key, sizes[f.key], before[f.key])
		}
	}
	return nil
}

// wholeNumber reads a number as Ironic's clients write it: as such or as text;
// none is zero.
func wholeNumber(v any) (int64, error) {
	switch v := v.(type) {
	case nil:
		return 0, nil
	case string:
		return strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), nil
		}
	case int:
		return int64(v), nil
	case int64:
		return v, nil
	}
	return 0, fmt.Errorf("%v is no whole number", v)
}

// preserves reads preserve_ephemeral, which may be text.
func preserves(n node.Node) (bool, error) {
	v := text(n.InstanceInfo, "preserve_ephemeral")
	is, known := nodeapi.Truth(v)
	if !known && v != "" {
		return false, node.Refuse(node.Invalid,
			"node %s cannot be deployed: instance_info/preserve_ephemeral is %q, expected true or false", n.UUID, v)
	}
	return is, nil
}

// diskLabel is the kind of partition table asked for: gpt, msdos or "".
func diskLabel(n node.Node) string { return wantedCapability(n, "disk_label") }

// addLayout gives the agent the layout of the disk, as Ironic does: its agent wants each of
// these said.
func addLayout(info map[string]any, n node.Node) {
	info["image_type"], info["boot_option"] = agentapi.PartitionImage, "local"
	for _, f := range layoutFields {
		size, _ := wholeNumber(n.InstanceInfo[f.key]) // checked before any step is planned
		info[f.sent] = size * f.mib
	}
	info["preserve_ephemeral"], _ = preserves(n)
	info["ephemeral_format"] = nil
	if format := text(n.InstanceInfo, "ephemeral_format"); format != "" {
		info["ephemeral_format"] = format
	} else if info["ephemeral_mb"] != int64(0) {
		info["ephemeral_format"] = defaultEphemeralFormat
	}
	label := diskLabel(n)
	if BootModeOf(n) == "uefi" {
		label = "gpt" // ironic-python-agent always uses gpt for uefi
	}
	if label != "" {
		info["disk_label"] = label
	}
}

// partitionsKnown takes the agent's report of an image's partitions: the boot loader needs
// it, and the node keeps it.
func partitionsKnown(d *decision, res agentapi.Result) error {
	if res.Status == agentapi.Succeeded {
		var result map[string]any
		if err := read(res.Result, &result); err != nil {
			return err
		}
		if err := d.keepPartitions(result); err != nil {
			return err
		}
	}
	return commandAnswered(d, res)
}

// partitionUUIDs reads the agent's report, under the names by which the boot loader is asked
// for; null for a partition that is not there.
func partitionUUIDs(result map[string]any) (map[string]any, error) {
	uuids := map[string]any{}
	for param, key := range map[string]string{
		"root_uuid": agentapi.RootUUIDKey, "efi_system_part_uuid": agentapi.ESPUUIDKey,
		"prep_boot_part_uuid": agentapi.PrepBootUUIDKey,
	} {
		uuid, ok := result[key].(string)
		if result[key] != nil && !ok || len(uuid) > maxID {
			return nil, fmt.Errorf("the agent reports %.*q as its %s, expected a UUID", maxID, fmt.Sprint(result[key]), key)
		}
		uuids[param] = nil
		if uuid != "" {
			uuids[param] = uuid
		}
	}
	if uuids["root_uuid"] == nil {
		return nil, fmt.Errorf("the agent reports no %s of the partition image it has written", agentapi.RootUUIDKey)
	}
	return uuids, nil
}

// keepPartitions hands them on to the step that installs the boot loader, and
// writes down how the instance lies on its disk.
func (d *decision) keepPartitions(result map[string]any) error {
	args, err := partitionUUIDs(result)
	if err != nil {
		return err
	}
	mode := BootModeOf(d.n)
	if mode != "uefi" {
		args["efi_system_part_uuid"] = nil // which nothing boots from
	}
	args["target_boot_mode"] = mode
	left := d.n.Run.Left()
	at := slices.IndexFunc(left, func(s node.Step) bool { return own(s) && s.String() == installBootloader })
	if at < 0 {
		return fmt.Errorf("the partitions of the image are known, but no step %s follows that would make it boot",
			installBootloader)
	}
	left[at].Args = args
	if d.n.DriverInternalInfo == nil {
		d.n.DriverInternalInfo = map[string]any{}
	}
	as := map[string]any{}
	for _, f := range layoutFields {
		size, _ := wholeNumber(d.n.InstanceInfo[f.key])
		as[f.key] = float64(size)
	}
	maps.Copy(d.n.DriverInternalInfo, map[string]any{isWholeDisk: false, rootUUID: args["root_uuid"], deployedAs: as})
	return nil
}

// forgetPartitions is for the end of an instance, or of its partitions.
func (d *decision) forgetPartitions() {
	for _, key := range []string{isWholeDisk, rootUUID, deployedAs} {
		delete(d.n.DriverInternalInfo, key)
	}
}
