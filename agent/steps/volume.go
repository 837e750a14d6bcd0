package steps

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/agent/sys"
)

// volume is a partition and the file system on it, if any that we mount.
type volume struct {
	disk.Part
	disk.Volume
	device   string // the partition's
	partUUID string
}

// String names a volume for messages.
func (v volume) String() string {
	if v.Kind == "" {
		return v.device + " (no file system to mount)"
	}
	s := v.device + " (" + v.Kind
	if v.Label != "" {
		s += fmt.Sprintf(", label %q", v.Label)
	}
	return s + ")"
}

// volumes lists the partitions of a disk.
func (m *Machine) volumes(ctx context.Context, path string) ([]volume, error) {
	dev, err := m.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer dev.Close() //nolint:errcheck // only read from
	table, err := disk.ReadTable(dev)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var all []volume
	for _, p := range table.Parts() {
		v, err := disk.ReadVolume(dev, p)
		if err != nil { // another volume, or the caller reports it missing
			m.Log.Warn("partition set aside", "disk", path, "err", err)
		}
		all = append(all, volume{p, v, partitionPath(path, p.Number), table.PartUUID(p)})
	}
	return all, nil
}

// partitionPath is the kernel's name of a partition: a disk with a digit at the end of its name has a p before the
// number.
func partitionPath(disk string, number int) string {
	if last := disk[len(disk)-1]; last >= '0' && last <= '9' {
		disk += "p"
	}
	return disk + strconv.Itoa(number)
}

// volumeFor finds the volume a file belongs on: the one its partition names,
// else the first that has the first folder of its path, as
// ironic-python-agent has it.
func (m *Machine) volumeFor(f injection, root string, all []volume) (volume, error) {
	if f.Partition != nil {
		return chooseVolume(f.Partition, root, all)
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(path.Clean("/"+f.Path), "/"), "/")
	var reasons []string
	for _, v := range all {
		if v.Kind == "" {
			continue
		}
		is, err := m.hasFolder(v, first)
		if is {
			return v, nil
		}
		if err != nil { // another may still be it
			m.Log.Warn("partition cannot be looked into", "partition", v.device, "err", err)
			reasons = append(reasons, err.Error())
		}
	}
	return volume{}, fmt.Errorf("no partition of %s has a folder /%s for %s; there are %s%s", root, first, f.Path,
		list(all), strings.Join(append([]string{""}, reasons...), "; "))
}

func list(all []volume) string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.String()
	}
	return strings.Join(names, ", ")
}

func (m *Machine) hasFolder(v volume, name string) (bool, error) {
	tree, err := m.mount(v, true)
	if err != nil {
		return false, err
	}
	defer tree.Close() //nolint:errcheck // only looked into
	return tree.IsDir(name)
}

// mount mounts a volume, for which its file system's module may be needed.
func (m *Machine) mount(v volume, readOnly bool) (*sys.Tree, error) {
	if v.Kind == "" {
		return nil, fmt.Errorf("%s has no file system that can be mounted: expected ext4, xfs, btrfs or vfat", v.device)
	}
	m.LoadModule(v.Kind)
	return m.Kernel.MountTree(v.device, v.Kind, readOnly)
}

// volumeKeys are the keys that may name a partition, as mount(8) spells them.
func volumeKeys() map[string]func(volume) string {
	return map[string]func(volume) string{
		"LABEL":     func(v volume) string { return v.Label },
		"UUID":      func(v volume) string { return v.UUID },
		"PARTLABEL": func(v volume) string { return v.Name },
		"PARTUUID":  func(v volume) string { return v.partUUID },
		"PARTTYPE":  func(v volume) string { return v.Type },
	}
}

// chooseVolume finds the partition that a specifier names: a number, a device of the
// disk or a link of /dev/disk/by-..., KEY=value, or only the value of any key. A
// specifier that fits several is refused.
func chooseVolume(specifier any, root string, all []volume) (volume, error) {
	spec := strings.TrimSpace(fmt.Sprint(specifier))
	key, value, keyed := strings.Cut(spec, "=")
	if by, ok := strings.CutPrefix(spec, "/dev/disk/by-"); ok {
		key, value, keyed = strings.Cut(by, "/")
	}
	match, known := volumeKeys()[strings.ToUpper(key)]
	if !keyed || !known {
		value = spec
		match = nil
	}
	var found []volume
	for _, v := range all {
		if value == "" || match != nil && !strings.EqualFold(match(v), value) {
			continue
		}
		if match == nil && !v.isNamed(value) {
			continue
		}
		found = append(found, v)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return volume{}, fmt.Errorf("no partition of %s is %q; there are %s", root, spec, list(all))
	}
	return volume{}, fmt.Errorf("partition %q could be %s: say which by its number", spec, list(found))
}

// isNamed reports whether a value is a volume's number, its device, or the
// value of one of its keys.
func (v volume) isNamed(value string) bool {
	if value == strconv.Itoa(v.Number) || value == v.device {
		return true
	}
	if _, err := strconv.Atoi(value); err == nil {
		return false // a number is never a label
	}
	for _, of := range volumeKeys() {
		if strings.EqualFold(of(v), value) {
			return true
		}
	}
	return false
}
