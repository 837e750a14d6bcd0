package steps

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/rootdevice"
)

// logicalDisk is an entry of target_raid_config's logical_disks, for software RAID.
// The other properties of Ironic's schema (disk types, numbers of disks) are for
// controllers that choose disks themselves; here physical_disks says which.
type logicalDisk struct {
	Controller    string             `json:"controller"`
	RAIDLevel     string             `json:"raid_level"`
	SizeGB        any                `json:"size_gb"` // GiB, or "MAX"
	VolumeName    string             `json:"volume_name"`
	IsRootVolume  *bool              `json:"is_root_volume"`
	PhysicalDisks []rootdevice.Hints `json:"physical_disks"` // hints; none: all disks
	MemberDisks   []string           `json:"member_disks"`   // of raid_config alone: where it was made

	given map[string]any // as it came, to be reported back
}

// softwareController is Ironic's name of the kernel's RAID.
const softwareController = "software"

// max reports whether the disk takes the remaining space.
func (l logicalDisk) max() bool { return l.SizeGB == "MAX" }

// isRoot reports whether the disk is said to be the root volume.
func (l logicalDisk) isRoot() bool { return l.IsRootVolume != nil && *l.IsRootVolume }

// raidConfig reads and checks a RAID configuration. Nothing of the machine is
// looked at yet.
func raidConfig(config map[string]any) ([]logicalDisk, error) {
	list, ok := config["logical_disks"].([]any)
	if !ok || len(list) == 0 {
		return nil, errors.New("expected a list logical_disks with at least one logical disk")
	}
	var disks []logicalDisk
	var errs []error
	names := map[string]bool{}
	roots := 0
	for i, item := range list {
		l, err := newLogicalDisk(item, i)
		if err == nil {
			err = l.check()
		}
		if err == nil && names[l.VolumeName] {
			err = fmt.Errorf("its name %s is another's too", l.VolumeName)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("logical disk %d: %w", i, err))
		}
		names[l.VolumeName] = true
		if l.isRoot() {
			roots++
		}
		disks = append(disks, l)
	}
	if roots > 1 {
		errs = append(errs, errors.New("only one logical disk can be the root volume (is_root_volume)"))
	}
	return disks, errors.Join(errs...)
}

// newLogicalDisk reads one entry; a disk without a name is called after its
// place, as ironic-python-agent does.
func newLogicalDisk(item any, place int) (logicalDisk, error) {
	var l logicalDisk
	if err := decodeStrictly(item, &l); err != nil {
		return l, fmt.Errorf("%w; software RAID takes controller, raid_level, size_gb, volume_name, "+
			"is_root_volume and physical_disks", err)
	}
	if l.VolumeName == "" {
		l.VolumeName = fmt.Sprintf("md%d", place)
	}
	l.given, _ = item.(map[string]any)
	l.given = maps.Clone(l.given)
	if l.given != nil {
		l.given["volume_name"] = l.VolumeName
		delete(l.given, "member_disks")
	}
	return l, nil
}

// maxVolumeGB bounds a size, so that it can be counted in bytes (1 PiB).
const maxVolumeGB = 1 << 20

// check compares one entry with the supported arrays.
func (l logicalDisk) check() error {
	size, number := l.SizeGB.(float64)
	switch {
	case l.Controller != softwareController:
		return fmt.Errorf("its controller is %q: this agent makes software RAID only, "+
			"all logical disks must have controller %q", l.Controller, softwareController)
	case l.RAIDLevel != "1":
		return fmt.Errorf("its raid_level is %q: this agent makes RAID 1 only", l.RAIDLevel)
	case !l.max() && (!number || size < 1 || size > maxVolumeGB || size != float64(int64(size))):
		return fmt.Errorf("its size_gb is %v, expected a whole number of GiB or \"MAX\"", l.SizeGB)
	case len(l.VolumeName) > 32:
		return fmt.Errorf("its volume_name %q has more than 32 bytes", l.VolumeName)
	case strings.ContainsAny(l.VolumeName, ":\x00"):
		return fmt.Errorf("its volume_name %q has a colon, behind which mdadm looks for the name, or a zero byte",
			l.VolumeName)
	case l.PhysicalDisks != nil && len(l.PhysicalDisks) < 2:
		return fmt.Errorf("physical_disks has %d items, expected at least 2 objects of device hints", len(l.PhysicalDisks))
	case slices.ContainsFunc(l.PhysicalDisks, func(h rootdevice.Hints) bool { return len(h) == 0 }):
		return errors.New("physical_disks has an item with no hints, which could be any disk")
	}
	return nil
}

// reported is the configuration as raid_config has it from now on.
func reported(disks []logicalDisk) map[string]any {
	list := []any{}
	for _, l := range disks {
		list = append(list, l.given)
	}
	return map[string]any{"logical_disks": list}
}

// raidFailure names a failure as ironic-python-agent does.
func raidFailure(err error) error {
	return agentapi.NewCommandError("SoftwareRAIDError", "Error managing software RAID", err.Error())
}
