package api

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/auth"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const both = creatable | patchable

// nodeTable is every field of a node with the microversion it appears in and
// what may be done with it, in Ironic's order.
func nodeTable(rules auth.Rules) *table[node.Node] {
	type n = node.Node
	link := func(name string, since int) field[n] {
		return shown(name, since, fullOnly, func(dst []byte, v *view[n]) []byte {
			return appendLinks(dst, v.base, "nodes/", v.of.UUID, "/", name)
		})
	}
	iface := func(kind string, since int) field[n] { return interfaceField(kind, since) }
	return newTable("node", []field[n]{
		identifier("uuid", 1, creatable, func(n *n) *string { return &n.UUID }),
		instant("created_at", 1, func(n *n) *time.Time { return &n.CreatedAt }),
		instant("updated_at", 1, func(n *n) *time.Time { return n.UpdatedAt }),
		maybe("automated_clean", 47, both, func(n *n) **bool { return &n.AutomatedClean }),
		iface("bios", 40),
		iface("boot", 31),
		text("boot_mode", 75, 0, func(n *n) *string { return &n.BootMode }),
		stepField("clean_step", 7, "clean"),
		conductorGroupField(),
		flag("console_enabled", 1, 0, false, func(n *n) *bool { return &n.ConsoleEnabled }),
		iface("console", 31),
		iface("deploy", 31),
		stepField("deploy_step", 44, "deploy"),
		sized("description", 51, both, 4096, func(n *n) *string { return &n.Description }),
		flag("disable_power_off", 95, both, false, func(n *n) *bool { return &n.DisablePowerOff }),
		driverField(),
		guarded(rules, object("driver_info", 1, both, nodeapi.Mask, func(n *n) *map[string]any { return &n.DriverInfo }), true),
		guarded(rules, shown("driver_internal_info", 3, 0, showInternalInfo), true),
		object("extra", 1, both, nil, func(n *n) *map[string]any { return &n.Extra }),
		text("fault", 42, 0, func(n *n) *string { return &n.Fault }),
		iface("firmware", 86),
		text("health", 109, 0, func(n *n) *string { return &n.Health }),
		instant("inspection_finished_at", 6, func(n *n) *time.Time { return n.InspectionFinishedAt }),
		instant("inspection_started_at", 6, func(n *n) *time.Time { return n.InspectionStartedAt }),
		iface("inspect", 31),
		object("instance_info", 1, both, nodeapi.MaskInstance, func(n *n) *map[string]any { return &n.InstanceInfo }),
		instanceNameField(),
		identifier("instance_uuid", 1, both, func(n *n) *string { return &n.InstanceUUID }),
		guarded(rules, text("last_error", 1, 0, func(n *n) *string { return &n.LastError }), false),
		text("lessee", 65, both, func(n *n) *string { return &n.Lessee }),
		flag("maintenance", 1, both, false, func(n *n) *bool { return &n.Maintenance }),
		text("maintenance_reason", 1, 0, func(n *n) *string { return &n.MaintenanceReason }),
		iface("management", 31),
		nameField(),
		networkDataField(),
		iface("network", 20),
		text("owner", 50, both, func(n *n) *string { return &n.Owner }),
		identifier("parent_node", 83, both, func(n *n) *string { return &n.ParentNode }),
		iface("power", 31),
		text("power_state", 1, 0, func(n *n) *node.PowerState { return &n.PowerState }),
		propertiesField(),
		flag("protected", 48, patchable, false, func(n *n) *bool { return &n.Protected }),
		text("protected_reason", 48, patchable, func(n *n) *string { return &n.ProtectedReason }),
		shown("provision_state", 1, sortable, showProvisionState),
		instant("provision_updated_at", 1, func(n *n) *time.Time { return n.ProvisionUpdatedAt }),
		object("raid_config", 12, 0, nil, func(n *n) *map[string]any { return &n.RAIDConfig }),
		iface("raid", 31),
		iface("rescue", 38),
		guarded(rules, shown("reservation", 1, 0, func(dst []byte, v *view[n]) []byte { return appendText(dst, v.reserved) }), false),
		sized("resource_class", 21, both, 80, func(n *n) *string { return &n.ResourceClass }),
		flag("retired", 61, both, false, func(n *n) *bool { return &n.Retired }),
		text("retired_reason", 61, both, func(n *n) *string { return &n.RetiredReason }),
		maybe("secure_boot", 75, 0, func(n *n) **bool { return &n.SecureBoot }),
		stepField("service_step", 87, "service"),
		text("shard", 82, both, func(n *n) *string { return &n.Shard }),
		iface("storage", 33),
		text("target_power_state", 1, 0, func(n *n) *node.PowerState { return &n.TargetPowerState }),
		text("target_provision_state", 1, 0, func(n *n) *node.State { return &n.TargetProvisionState }),
		object("target_raid_config", 12, 0, nil, func(n *n) *map[string]any { return &n.TargetRAIDConfig }),
		shown("traits", 37, 0, func(dst []byte, v *view[n]) []byte { return appendTexts(dst, v.of.Traits) }),
		iface("vendor", 31),
		shown("links", 1, 0, func(dst []byte, v *view[n]) []byte { return appendLinks(dst, v.base, "nodes/", v.of.UUID) }),
		shown("conductor", 49, 0, func(dst []byte, v *view[n]) []byte { return appendText(dst, v.host) }),
		identifier("allocation_uuid", 52, 0, func(n *n) *string { return &n.AllocationUUID }),
		identifier("chassis_uuid", 1, both, func(n *n) *string { return &n.ChassisUUID }),
		link("ports", 1),
		link("states", 14),
		link("portgroups", 24),
		link("volume", 32),
	})
}

// defaultNodeFields is what a list shows when it is not asked for more.
func defaultNodeFields() []string {
	return []string{"instance_uuid", "maintenance", "power_state", "provision_state", "uuid", "name", "links"}
}

// stateFields is what GET /v1/nodes/{node}/states shows.
func stateFields() []string {
	return []string{
		"console_enabled", "last_error", "power_state", "provision_state", "target_power_state", "target_provision_state",
		"provision_updated_at", "raid_config", "target_raid_config", "boot_mode", "secure_boot",
	}
}
