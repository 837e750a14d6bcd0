package translate

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

func hasRootVolume(r *hostapi.RAID) bool {
	return slices.ContainsFunc(r.SoftwareRAIDVolumes, func(v hostapi.SoftwareRAIDVolume) bool { return v.RootVolume })
}

// RAIDInterface is the raid interface that makes the volumes. The agent makes and removes the kernel's volumes.
func (a Access) RAIDInterface(target, is *hostapi.RAID) (string, error) {
	hardware := a.interfaces["raid"]
	switch {
	case target == nil:
		return hardware, nil
	case len(target.HardwareRAIDVolumes) > 0 && (hardware == "" || hardware == "no-raid"):
		return "", fmt.Errorf("spec.raid.hardwareRAIDVolumes cannot be made through %s: use softwareRAIDVolumes, or a BMC "+
			"that speaks Redfish", a.Scheme)
	case len(target.SoftwareRAIDVolumes) > 0 && a.deploy != "":
		return "", fmt.Errorf("spec.raid.softwareRAIDVolumes cannot be made on %s: the agent makes them, and no agent runs "+
			"on such a machine", a.Scheme)
	case len(target.SoftwareRAIDVolumes) > 0 || is != nil && len(is.SoftwareRAIDVolumes) > 0:
		return "agent", nil
	}
	return hardware, nil
}

// RAIDSteps take away the volumes there are and make those that are wanted; none
// when they are the same. Volumes of the kernel leave traces on their disks.
func (a Access) RAIDSteps(target, is *hostapi.RAID) ([]node.Step, error) {
	if _, err := a.RAIDInterface(target, is); err != nil || target == nil {
		return nil, err
	}
	var before hostapi.RAID
	if is != nil {
		before = *is
	}
	remove, create := node.Step{Interface: "raid", Step: "delete_configuration"},
		node.Step{Interface: "raid", Step: "create_configuration"}
	switch soft, hard := target.SoftwareRAIDVolumes, target.HardwareRAIDVolumes; {
	case soft != nil:
		if is != nil && reflect.DeepEqual(soft, before.SoftwareRAIDVolumes) ||
			len(soft)+len(before.SoftwareRAIDVolumes) == 0 {
			return nil, nil
		}
		steps := []node.Step{remove, {Interface: "deploy", Step: "erase_devices_metadata"}}
		if len(soft) > 0 {
			steps = append(steps, create)
		}
		return steps, nil
	case hard == nil || a.interfaces["raid"] == "no-raid" || a.interfaces["raid"] == "":
		return nil, nil
	case is != nil && reflect.DeepEqual(hard, before.HardwareRAIDVolumes):
		return nil, nil
	case len(hard) == 0:
		return []node.Step{remove}, nil
	}
	return []node.Step{remove, create}, nil
}

// RAIDConfig is the wanted volumes, in the words of target_raid_config; nil for none. Without another rule for the root
// disk, it is the first volume.
func RAIDConfig(hints *hostapi.RootDeviceHints, raid *hostapi.RAID) map[string]any {
	if raid == nil {
		return nil
	}
	var volumes []map[string]any
	for _, v := range raid.HardwareRAIDVolumes {
		volumes = append(volumes, hardwareVolume(v))
	}
	if len(volumes) == 0 {
		for _, v := range raid.SoftwareRAIDVolumes {
			volumes = append(volumes, softwareVolume(v))
		}
	}
	if len(volumes) == 0 {
		return nil
	}
	if hints == nil && !hasRootVolume(raid) {
		volumes[0]["is_root_volume"] = true
	}
	disks := make([]any, len(volumes)) // as JSON reads a list, to be compared
	for i, v := range volumes {
		disks[i] = v
	}
	return map[string]any{"logical_disks": disks}
}

func hardwareVolume(v hostapi.HardwareRAIDVolume) map[string]any {
	disk := map[string]any{"raid_level": v.Level, "size_gb": volumeSize(v.SizeGibibytes)}
	if v.Name != "" {
		disk["volume_name"] = v.Name
	}
	if v.Controller != "" {
		disk["controller"] = v.Controller
	}
	if v.Rotational != nil {
		disk["disk_type"] = map[bool]string{true: "hdd", false: "ssd"}[*v.Rotational]
	}
	if v.NumberOfPhysicalDisks != nil {
		disk["number_of_physical_disks"] = float64(*v.NumberOfPhysicalDisks)
	}
	var members []any
	for _, name := range v.PhysicalDisks {
		members = append(members, name)
	}
	if members != nil {
		disk["physical_disks"] = members
	}
	return disk
}

func softwareVolume(v hostapi.SoftwareRAIDVolume) map[string]any {
	disk := map[string]any{"raid_level": v.Level, "size_gb": volumeSize(v.SizeGibibytes), "controller": "software"}
	if v.RootVolume {
		disk["is_root_volume"] = true
	}
	var members []any
	for i := range v.PhysicalDisks {
		members = append(members, RootDevice(&v.PhysicalDisks[i]))
	}
	if members != nil {
		disk["physical_disks"] = members
	}
	return disk
}

// volumeSize is in GiB; nil and 0 take all space. Numbers are float64, as JSON decodes them, so that they compare equal
// with a node's.
func volumeSize(gib *int) any {
	if gib == nil || *gib == 0 {
		return "MAX"
	}
	return float64(*gib)
}
