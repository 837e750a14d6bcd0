package node

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

// A group of commands on one part of a machine, such as node bios.
type partGroup struct {
	name, short, long string
	readings          []reading
	changes           []change
}

// reading shows a part of a node.
type reading struct {
	name, use, short string
	part             string // of the path below the node, with {} for an argument
	// key is the list's key in the answer; "[]" if the answer is the list, "{}" if it maps names, "" for an object.
	key     string
	columns []output.Column
}

// change changes a part of nodes.
type change struct {
	name, use, short string // name "" for a group that is one command
	method, part     string // {} of the part is the argument after the node
	body             map[string]any
	flags            []partFlag
	example          string
}

// partFlag is a flag that becomes a field of the body, or for requests without a body an argument of the path.
type partFlag struct {
	flag, field, help string
	required, json    bool
}

// partGroups are the parts of a machine that a BMC or a network changes at once, beside all activities.
var partGroups = []partGroup{
	{name: "bios", short: "BIOS settings, as the BMC told them last",
		long: "BIOS settings as they were read last: with manage, and after each cleaning. The step\n" +
			"bios.apply_configuration of clean and service changes them.",
		readings: []reading{
			{"list", "NODE", "List the BIOS settings", "bios?detail=True", "bios", output.Columns("name", "value",
				"attribute_type", "read_only", "reset_required")},
			{"show", "NODE SETTING", "Show one BIOS setting, with the values that it can have", "bios/{}", "", nil},
		}},
	{name: "firmware", short: "Versions of the firmware, as the BMC told them last",
		readings: []reading{{"list", "NODE", "List the firmware components and their versions", "firmware", "firmware",
			output.Columns("component", "current_version", "initial_version", "last_version_flashed",
				"updated_at")}}},
	{name: "boot-mode", short: "Boot by UEFI or by BIOS",
		readings: []reading{{"show", "NODE", "Show the boot mode and secure boot, as read last",
			"?fields=boot_mode,secure_boot", "", nil}},
		changes: []change{
			{name: "uefi", use: "NODE...", short: "Boot by UEFI from now on", method: http.MethodPut, part: "states/boot_mode",
				body: map[string]any{"target": "uefi"}},
			{name: "bios", use: "NODE...", short: "Boot by BIOS from now on", method: http.MethodPut, part: "states/boot_mode",
				body: map[string]any{"target": "bios"}},
		}},
	{name: "secure-boot", short: "Start signed boot loaders only",
		changes: []change{
			{name: "on", use: "NODE...", short: "Start signed boot loaders only", method: http.MethodPut,
				part: "states/secure_boot", body: map[string]any{"target": true}},
			{name: "off", use: "NODE...", short: "Start any boot loader", method: http.MethodPut, part: "states/secure_boot",
				body: map[string]any{"target": false}},
		}},
	{name: "vmedia", short: "Images in the BMC's virtual drives",
		readings: []reading{{"list", "NODE", "List the images in the virtual drives", "vmedia", "[]",
			output.Columns("media_types", "inserted", "image", "image_url")}},
		changes: []change{
			{name: "insert", use: "NODE... --image URL", short: "Put an image into a virtual drive", method: http.MethodPost,
				part: "vmedia", body: map[string]any{"device_type": "cdrom"}, flags: []partFlag{
					{flag: "image", field: "image_url", help: "`URL` of the image", required: true},
					{flag: "device", field: "device_type", help: "drive: cdrom, floppy or disk (default cdrom)"},
					{flag: "download", field: "image_download_source", help: "who fetches it: http, local or swift"}},
				example: "  ferrite node vmedia insert m1 --image http://10.0.0.1/rescue.iso"},
			{name: "eject", use: "NODE...", short: "Take images out of the virtual drives", method: http.MethodDelete,
				part: "vmedia", flags: []partFlag{
					{flag: "device", field: "device_types", help: "only these drives, separated by commas"}}},
		}},
	{name: "nmi", short: "Interrupt machines so that their operating systems dump their memory",
		changes: []change{{use: "NODE...", method: http.MethodPut, part: "management/inject_nmi", body: map[string]any{},
			short: "Interrupt machines so that their operating systems dump their memory"}}},
	{name: "indicator", short: "Lights of machines, to find them in a rack",
		readings: []reading{
			{"list", "NODE", "List the lights", "management/indicators", "indicators", output.Columns("name", "component",
				"readonly", "states")},
			{"show", "NODE INDICATOR", "Show the state of a light", "management/indicators/{}", "", nil},
		},
		changes: []change{{name: "set", use: "NODE INDICATOR --state STATE", short: "Switch a light", method: http.MethodPut,
			part: "management/indicators/{}", flags: []partFlag{
				{flag: "state", field: "state", help: "on, off or blinking", required: true}},
			example: "  ferrite node indicator set m1 chassis@chassis --state blinking"}}},
	{name: "vif", short: "Virtual interfaces of a network that are attached to ports",
		readings: []reading{{"list", "NODE", "List the attached virtual interfaces", "vifs", "vifs",
			output.Columns("id")}},
		changes: []change{
			{name: "attach", use: "NODE --id VIF", short: "Attach a virtual interface to a free port", method: http.MethodPost,
				part: "vifs", flags: []partFlag{
					{flag: "id", field: "id", help: "UUID of the virtual interface", required: true},
					{flag: "port", field: "port_uuid", help: "UUID of the port; any free one when left out"},
					{flag: "portgroup", field: "portgroup_uuid", help: "UUID of the portgroup"}}},
			{name: "detach", use: "NODE VIF", short: "Detach a virtual interface", method: http.MethodDelete, part: "vifs/{}"},
		}},
	{name: "raid", short: "RAID volumes that a machine is to get",
		long: "RAID volumes that a machine is to get. The step raid.apply_configuration of clean makes them.",
		readings: []reading{{"show", "NODE", "Show the wanted and the found RAID volumes",
			"?fields=target_raid_config,raid_config", "", nil}},
		changes: []change{
			{name: "set", use: "NODE... --config FILE", short: "Say which RAID volumes are wanted", method: http.MethodPut,
				part: "states/raid", flags: []partFlag{{flag: "config", json: true, required: true,
					help: "`file` of JSON or YAML, or JSON: an object with logical_disks"}},
				example: `  ferrite node raid set m1 --config '{"logical_disks": [{"size_gb": "MAX", "raid_level": "1"}]}'`},
			{name: "unset", use: "NODE...", short: "Want no RAID volumes", method: http.MethodPut, part: "states/raid",
				body: map[string]any{}},
		}},
	{name: "vendor", short: "Methods of a vendor's driver",
		readings: []reading{{"list", "NODE", "List the methods, with what they do", "vendor_passthru/methods", "{}",
			output.Columns("name", "http_methods", "async", "description")}},
		changes: []change{{name: "call", use: "NODE METHOD [--arguments JSON]", short: "Call a method",
			method: http.MethodPost,
			part:   "vendor_passthru/{}", flags: []partFlag{
				{flag: "http-method", field: "", help: "GET, POST, PUT, PATCH or DELETE (default POST)"},
				{flag: "arguments", json: true, help: "`file` of JSON or YAML, or JSON: an object"}}}}},
	{name: "console-access", short: "Consoles for other clients, such as the dashboard of OpenStack",
		readings: []reading{{"show", "NODE", "Show whether the console is enabled, and where it is",
			"states/console", "", nil}},
		changes: []change{
			{name: "on", use: "NODE...", short: "Enable the console", method: http.MethodPut, part: "states/console",
				body: map[string]any{"enabled": true}},
			{name: "off", use: "NODE...", short: "Disable the console", method: http.MethodPut, part: "states/console",
				body: map[string]any{"enabled": false}},
		}},
	{name: "children", short: "Machines that are parts of a machine",
		readings: []reading{{"list", "NODE", "List the parts of a machine", "children", "children", nil}}},
}
