package api

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// raidResource is the RAID configuration of a node.
type raidResource struct{ access }

// routes sets the RAID configuration of a node, and lists the properties of a logical disk.
func (h *raidResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodPut, Path: "/v1/nodes/:node/states/raid", Since: 12, TooOld: rest.NotAcceptable(),
			Doc: "say which RAID volumes are wanted", Handle: h.setRAID, Wire: rest.Accepts(http.StatusNoContent, raidForm())},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/states/raid", Doc: "refused: it is a field of the states",
			Handle: writeOnly},
		{Method: http.MethodGet, Path: "/v1/drivers/:driver/raid/logical_disk_properties", Since: 12,
			TooOld: rest.NotAcceptable(), Doc: "the properties of a RAID volume", Handle: h.raidProperties,
			Wire: rest.Returns(rest.FormOf(map[string]string{}))},
	}
}

// setRAID takes the configuration itself as body; an empty one is none.
func (h *raidResource) setRAID(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), nil); err != nil {
		return err
	}
	v, present, err := c.Body(nodeapi.BodyLimit)
	if err != nil {
		return err
	}
	config, ok := v.(map[string]any)
	if !present || !ok && v != nil {
		return rest.BadRequest("Expected types <class 'NoneType'>, <class 'dict'> for target_raid_config: %s", rest.Python(v))
	}
	if err := nodeapi.CheckSize("target_raid_config", nil, config); err != nil {
		return rest.BadRequest("%v", err)
	}
	if err := checkRAID(config); err != nil {
		return err
	}
	return c.Done(h.conductor.SetTargetRAIDConfig(c.Request().Context(), n.UUID, config))
}

func (h *raidResource) raidProperties(c *rest.Call) error {
	if _, err := hardwareType(c, h.conductor.HardwareTypes()); err != nil {
		return err
	}
	properties := map[string]string{}
	for _, p := range diskProperties() {
		properties[p.name] = p.meaning
	}
	return c.Marshal(http.StatusOK, properties)
}

// diskProperty is a property of a logical disk. valid returns the fault of a value, "" for none.
type diskProperty struct {
	name     string
	required bool
	valid    rest.Shape
	meaning  string
}

// diskProperties is Ironic's schema of a logical disk.
func diskProperties() []diskProperty {
	return []diskProperty{
		{"raid_level", true, rest.OneOf("JBOD", "0", "1", "2", "5", "6", "1+0", "5+0", "6+0"),
			"Level of the volume: JBOD, 0, 1, 2, 5, 6, 1+0, 5+0 or 6+0. Required."},
		{"size_gb", true, diskSize, "Size in GiB, or MAX for all that is left. Required."},
		{"volume_name", false, rest.IsText, "Name of the volume; made up if left out. Optional."},
		{"is_root_volume", false, rest.IsBool,
			"Whether the operating system is to go there, false if left out. At most one. Optional."},
		{"share_physical_disks", false, rest.IsBool,
			"Whether other volumes may be on the same disks, false if left out. Optional."},
		{"disk_type", false, rest.OneOf("hdd", "ssd"), "Kind of the disks, hdd or ssd; any if left out. Optional."},
		{"interface_type", false, rest.OneOf("sata", "scsi", "sas"),
			"Interface of the disks, sata, scsi or sas; any if left out. Optional."},
		{"number_of_physical_disks", false, diskCount,
			"How many disks; the fewest that the level needs if left out. Optional."},
		{"controller", false, rest.IsText,
			"The controller that is to make the volume; a suitable one if left out. Optional."},
		{"physical_disks", false, physicalDisks,
			"The disks themselves, which needs controller too; suitable ones if left out. Optional."},
	}
}

// checkRAID refuses a configuration that Ironic's schema of RAID refuses, in its words. An empty one is valid.
func checkRAID(config map[string]any) error {
	if len(config) == 0 {
		return nil
	}
	disks, ok := config["logical_disks"].([]any)
	roots := 0
	wrong := ""
	switch extra := slices.DeleteFunc(rest.SortedKeys(config), func(key string) bool { return key == "logical_disks" }); {
	case config["logical_disks"] == nil:
		wrong = "'logical_disks' is a required property"
	case len(extra) > 0:
		wrong = rest.Additional(extra[0])
	case !ok:
		wrong = rest.Python(config["logical_disks"]) + " is not of type 'array'"
	case len(disks) == 0:
		wrong = "[] is too short"
	}
	for _, d := range disks {
		disk, ok := d.(map[string]any)
		switch {
		case wrong != "":
		case !ok:
			wrong = rest.Python(d) + " is not of type 'object'"
		default:
			wrong = wrongDisk(disk)
		}
		if root, _ := disk["is_root_volume"].(bool); root {
			roots++
		}
	}
	if wrong != "" {
		return rest.BadRequest("RAID config validation error: %s", wrong)
	}
	if roots > 1 {
		return rest.BadRequest("Raid config cannot have more than one root volume. %d root volumes were specified", roots)
	}
	return nil
}

func wrongDisk(disk map[string]any) string {
	known := map[string]bool{}
	for _, p := range diskProperties() {
		known[p.name] = true
		v, there := disk[p.name]
		switch {
		case !there && p.required:
			return fmt.Sprintf("'%s' is a required property", p.name)
		case !there:
		default:
			if wrong := p.valid(v); wrong != "" {
				return wrong
			}
		}
	}
	for _, key := range rest.SortedKeys(disk) {
		if !known[key] {
			return rest.Additional(key)
		}
	}
	if disk["physical_disks"] != nil && disk["controller"] == nil {
		return "'controller' is a dependency of 'physical_disks'"
	}
	return ""
}

func diskSize(v any) string {
	if n, ok := v.(float64); v == "MAX" || ok && n >= 0 && n == float64(int64(n)) {
		return ""
	}
	return rest.Python(v) + " is not valid under any of the given schemas"
}

func diskCount(v any) string {
	n, ok := v.(float64)
	switch {
	case !ok || n != float64(int64(n)):
		return rest.Python(v) + " is not of type 'integer'"
	case n <= 0:
		return rest.Python(v) + " is less than or equal to the minimum of 0"
	}
	return ""
}

// physicalDisks accepts names of disks, or at least two descriptions of disks.
func physicalDisks(v any) string {
	list, ok := v.([]any)
	names, hints := 0, 0
	for _, item := range list {
		switch item.(type) {
		case string:
			names++
		case map[string]any:
			hints++
		}
	}
	if !ok || names != len(list) && (hints != len(list) || hints < 2) {
		return rest.Python(v) + " is not valid under any of the given schemas"
	}
	return ""
}
