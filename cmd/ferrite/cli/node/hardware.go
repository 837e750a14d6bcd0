package node

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/noun"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

// hardware is the parts of a machine that a BMC or a network changes at once, beside all activities.
var hardware = []noun.Noun{
	{Use: "bios", Short: "BIOS settings, as the BMC reported them last",
		Long: "BIOS settings as they were read last: with manage, and after each cleaning. The step\n" +
			"bios.apply_configuration of clean and service changes them.",
		Verbs: []noun.Verb{
			{Use: "list NODE", Short: "List the BIOS settings", Path: "/{0}/bios?detail=True", Key: "bios",
				Columns: output.Columns("name", "value", "attribute_type", "read_only", "reset_required")},
			{Use: "show NODE SETTING", Short: "Show one BIOS setting, with the values that it can have",
				Path: "/{0}/bios/{1}"},
		}},
	{Use: "firmware", Short: "Versions of the firmware, as the BMC reported them last", Verbs: []noun.Verb{
		{Use: "list NODE", Short: "List the firmware components and their versions", Path: "/{0}/firmware",
			Key: "firmware", Columns: output.Columns("component", "current_version", "initial_version",
				"last_version_flashed", "updated_at")},
	}},
	{Use: "boot-mode", Short: "Boot by UEFI or by BIOS", Verbs: []noun.Verb{
		{Use: "show NODE", Short: "Show the boot mode and secure boot, as read last",
			Path: "/{0}?fields=boot_mode,secure_boot"},
		state("uefi", "Boot by UEFI from now on", "boot_mode", "target", "uefi"),
		state("bios", "Boot by BIOS from now on", "boot_mode", "target", "bios"),
	}},
	{Use: "secure-boot", Short: "Start signed boot loaders only", Verbs: []noun.Verb{
		state("on", "Start signed boot loaders only", "secure_boot", "target", true),
		state("off", "Start any boot loader", "secure_boot", "target", false),
	}},
	{Use: "vmedia", Short: "Images in the BMC's virtual drives", Verbs: []noun.Verb{
		{Use: "list NODE", Short: "List the images in the virtual drives", Path: "/{0}/vmedia", Key: "[]",
			Columns: output.Columns("media_types", "inserted", "image", "image_url")},
		{Use: "insert NODE... --image URL", Short: "Put an image into a virtual drive", Method: http.MethodPost,
			Path: "/{0}/vmedia", Body: map[string]any{"device_type": "cdrom"},
			Example: "  ferrite node vmedia insert m1 --image http://10.0.0.1/rescue.iso", Fields: []noun.Field{
				{Name: "image_url", Flag: "image", Required: true, Help: "`URL` of the image"},
				{Name: "device_type", Flag: "device", Help: "drive: cdrom, floppy or disk (default cdrom)"},
				{Name: "image_download_source", Flag: "download", Help: "the way to fetch it: http, local or swift"}}},
		{Use: "eject NODE...", Short: "Take images out of the virtual drives", Method: http.MethodDelete,
			Path: "/{0}/vmedia", Fields: []noun.Field{
				{Name: "device_types", Flag: "device", Help: "only these drives, separated by commas"}}},
	}},
	{Use: "indicator", Short: "Lights of machines, to find them in a rack", Verbs: []noun.Verb{
		{Use: "list NODE", Short: "List the lights", Path: "/{0}/management/indicators", Key: "indicators",
			Columns: output.Columns("name", "component", "readonly", "states")},
		{Use: "show NODE INDICATOR", Short: "Show the state of a light", Path: "/{0}/management/indicators/{1}"},
		{Use: "set NODE INDICATOR --state STATE", Short: "Switch a light", Method: http.MethodPut,
			Path:    "/{0}/management/indicators/{1}",
			Fields:  []noun.Field{{Name: "state", Required: true, Help: "on, off or blinking"}},
			Example: "  ferrite node indicator set m1 chassis@chassis --state blinking"},
	}},
	{Use: "vif", Short: "Virtual interfaces of a network that are attached to ports", Verbs: []noun.Verb{
		{Use: "list NODE", Short: "List the attached virtual interfaces", Path: "/{0}/vifs", Key: "vifs",
			Columns: output.Columns("id")},
		{Use: "attach NODE --id VIF", Short: "Attach a virtual interface to a free port", Method: http.MethodPost,
			Path: "/{0}/vifs", Fields: []noun.Field{
				{Name: "id", Required: true, Help: "UUID of the virtual interface"},
				{Name: "port_uuid", Flag: "port", Help: "UUID of the port; any free one when left out"},
				{Name: "portgroup_uuid", Flag: "portgroup", Help: "UUID of the portgroup"}}},
		{Use: "detach NODE VIF", Short: "Detach a virtual interface", Method: http.MethodDelete,
			Path: "/{0}/vifs/{1}"},
	}},
	{Use: "raid", Short: "RAID volumes of machines, wanted and actual",
		Long: "RAID volumes of machines, wanted and actual. The step raid.apply_configuration of clean makes them.",
		Verbs: []noun.Verb{
			{Use: "show NODE", Short: "Show the wanted and the actual RAID volumes",
				Path: "/{0}?fields=target_raid_config,raid_config"},
			{Use: "set NODE... --config FILE", Short: "Set the wanted RAID volumes", Method: http.MethodPut,
				Path: "/{0}/states/raid", Fields: []noun.Field{{Flag: "config", Kind: noun.Whole, Required: true,
					Help: "`file` of JSON or YAML, or JSON: an object with logical_disks"}},
				Example: `  ferrite node raid set m1 --config '{"logical_disks": [{"size_gb": "MAX", "raid_level": "1"}]}'`},
			{Use: "unset NODE...", Short: "Remove the wanted RAID volumes", Method: http.MethodPut, Path: "/{0}/states/raid"},
		}},
	{Use: "vendor", Short: "Methods of a vendor's driver", Verbs: []noun.Verb{
		{Use: "list NODE", Short: "List the methods and their purpose", Path: "/{0}/vendor_passthru/methods",
			Key: "{}", Columns: output.Columns("name", "http_methods", "async", "description")},
		{Use: "call NODE METHOD [--arguments JSON]", Short: "Call a method", Method: http.MethodPost,
			Path: "/{0}/vendor_passthru/{1}", Fields: []noun.Field{
				{Flag: "http-method", Kind: noun.Method, Help: "GET, POST, PUT, PATCH or DELETE (default POST)"},
				{Flag: "arguments", Kind: noun.Whole, Help: "`file` of JSON or YAML, or JSON: an object"}}},
	}},
	{Use: "console-access", Short: "Consoles for other clients, such as the dashboard of OpenStack",
		Verbs: []noun.Verb{
			{Use: "show NODE", Short: "Show whether the console is enabled, and where it is",
				Path: "/{0}/states/console"},
			state("on", "Enable the console", "console", "enabled", true),
			state("off", "Disable the console", "console", "enabled", false),
		}},
	{Use: "children", Short: "Machines that are parts of a machine", Verbs: []noun.Verb{
		{Use: "list NODE", Short: "List the parts of a machine", Path: "/{0}/children", Key: "children",
			Columns: output.Columns("uuid")}}},
}

// state is a verb that sets a part of the state of machines.
func state(name, short, part, field string, value any) noun.Verb {
	return noun.Verb{Use: name + " NODE...", Short: short, Method: http.MethodPut, Path: "/{0}/states/" + part,
		Body: map[string]any{field: value}}
}
