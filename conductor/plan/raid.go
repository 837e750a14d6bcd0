package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
	"github.com/ferrite-metal/ferrite/proto/rootdevice"
)

// volumesKnown records the RAID volumes after a driver's step.
func (d *decision) volumesKnown(all []node.LogicalDisk) {
	list := make([]any, 0, len(all))
	for _, v := range all {
		list = append(list, map[string]any{
			"id": v.ID, "name": v.Name, "controller": v.Controller, "size_gb": v.SizeGB, "raid_level": v.RAIDLevel,
		})
	}
	d.raidIs(map[string]any{"logical_disks": list})
}

// rootOnArray is the UUID of an image's root file system, from Ironic's image_rootfs_uuid, if the image goes onto
// software RAID; "" elsewhere. On a member of the array, a BIOS does not find the boot code of a whole-disk image: the
// agent has to find the image's GRUB.
func rootOnArray(n node.Node) string {
	for _, config := range []map[string]any{n.TargetRAIDConfig, n.RAIDConfig} {
		disks, _ := config["logical_disks"].([]any)
		for _, d := range disks {
			if d, ok := d.(map[string]any); ok && d["controller"] == "software" {
				return text(n.InstanceInfo, "image_rootfs_uuid")
			}
		}
	}
	return ""
}

func (d *decision) raidIs(config map[string]any) {
	config["last_updated"] = d.now.UTC().Format(time.DateTime + ".000000") // as Ironic writes it here alone
	d.n.RAIDConfig = config
	d.dirty = true
}

// raidByAgent records the volumes after a RAID step of the agent, as Ironic does with the raid interface agent.
func (d *decision) raidByAgent(s node.Step, result json.RawMessage) error {
	if !s.InBand || s.Interface != "raid" {
		return nil
	}
	switch s.Step {
	case "create_configuration", "apply_configuration":
		return d.volumesByAgent(result)
	case "delete_configuration":
		delete(d.n.Properties, "root_device")
		d.onlyKeptVolumes()
	}
	return nil
}

// onlyKeptVolumes drops all volumes but the ones in skip_block_devices, which are not deleted: our agent knows them by
// their disks in raid_config.
func (d *decision) onlyKeptVolumes() {
	_, names, _ := rootdevice.SkipFrom(d.n.Properties) // a property that is wrong has failed the step
	disks, _ := d.n.RAIDConfig["logical_disks"].([]any)
	kept := slices.DeleteFunc(slices.Clone(disks), func(v any) bool {
		volume, _ := v.(map[string]any)
		return !slices.Contains(names, text(volume, "volume_name"))
	})
	if d.n.RAIDConfig, d.dirty = nil, true; len(kept) > 0 {
		d.raidIs(map[string]any{"logical_disks": kept})
	}
}

// maxRAIDConfig bounds the size of an agent's report of its volumes that is kept, in bytes.
const maxRAIDConfig = 64 << 10

// volumesByAgent reads the volumes of an agent's result. The root volume sets the size and level for schedulers, and
// the disk to write to for a deploy.
func (d *decision) volumesByAgent(result json.RawMessage) error {
	var r agentapi.StepResult
	err := json.Unmarshal(result, &r)
	made := map[string]json.RawMessage{"clean": r.CleanResult, "deploy": r.DeployResult,
		"service": r.ServiceResult}[d.n.Run.Activity]
	if err == nil {
		err = nodeapi.CheckJSON(made)
	}
	var config struct {
		Disks []map[string]any `json:"logical_disks"`
	}
	if err == nil {
		err = json.Unmarshal(made, &config)
	}
	if err != nil || config.Disks == nil || len(made) > maxRAIDConfig {
		return fmt.Errorf("the agent does not say which volumes it made: expected an object with a list logical_disks of "+
			"at most %d bytes as the result of the step, found %d bytes", maxRAIDConfig, len(made))
	}
	var root map[string]any
	list := make([]any, 0, len(config.Disks))
	for _, v := range config.Disks {
		list = append(list, v)
		if v["is_root_volume"] != true {
			continue
		}
		if root != nil {
			return fmt.Errorf("the agent made more than one root volume: correct is_root_volume in the node's " +
				"target_raid_config")
		}
		root = v
	}
	d.raidIs(map[string]any{"logical_disks": list})
	d.rootVolume(root)
	return nil
}

func (d *decision) rootVolume(v map[string]any) {
	if v == nil {
		return
	}
	if d.n.Properties == nil {
		d.n.Properties = map[string]any{}
	}
	p := d.n.Properties
	if size, ok := v["size_gb"]; ok && size != "MAX" {
		p["local_gb"] = size
	}
	if hint, ok := v["root_device_hint"]; ok {
		p["root_device"] = hint
	}
	p["capabilities"] = node.SetCapability(capabilityLine(p), "raid_level", text(v, "raid_level"))
}
