package api

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const both = rest.Creatable | rest.Patchable

// nodeTable is every field of a node with the microversion it appears in and
// what may be done with it, in Ironic's order.
//
//nolint:funlen // a table, a row a field
func nodeTable(rules auth.Rules, leaders Leaders) *rest.Table[node.Node] {
	type n = node.Node
	link := func(name string, since int) rest.Field[n] {
		return rest.Computed(name, since, rest.FullOnly, func(dst []byte, v *rest.View[n]) []byte {
			return rest.AppendLinks(dst, v.Base, "nodes/", v.Of.UUID, "/", name)
		})
	}
	iface := func(kind string, since int) rest.Field[n] { return interfaceField(kind, since) }
	return rest.NewTable("node", []rest.Field[n]{
		rest.UUID("uuid", 1, rest.Creatable, func(n *n) *string { return &n.UUID }),
		rest.Time("created_at", 1, func(n *n) *time.Time { return &n.CreatedAt }),
		rest.Time("updated_at", 1, func(n *n) *time.Time { return n.UpdatedAt }),
		rest.OptionalFlag("automated_clean", 47, both, func(n *n) **bool { return &n.AutomatedClean }),
		iface("bios", 40),
		iface("boot", 31),
		rest.Text("boot_mode", 75, 0, func(n *n) *string { return &n.BootMode }),
		stepField("clean_step", 7, "clean"),
		conductorGroupField(leaders),
		rest.Flag("console_enabled", 1, 0, false, func(n *n) *bool { return &n.ConsoleEnabled }),
		iface("console", 31),
		iface("deploy", 31),
		stepField("deploy_step", 44, "deploy"),
		rest.Sized("description", 51, both, 4096, func(n *n) *string { return &n.Description }),
		rest.Flag("disable_power_off", 95, both, false, func(n *n) *bool { return &n.DisablePowerOff }),
		driverField(),
		guarded(rules, rest.Object("driver_info", 1, both, nodeapi.Mask, func(n *n) *map[string]any { return &n.DriverInfo }),
			true),
		guarded(rules, rest.Computed("driver_internal_info", 3, 0, showInternalInfo), true),
		rest.Object("extra", 1, both, nil, func(n *n) *map[string]any { return &n.Extra }),
		rest.Text("fault", 42, 0, func(n *n) *string { return &n.Fault }),
		iface("firmware", 86),
		rest.Text("health", 109, 0, func(n *n) *string { return &n.Health }),
		rest.Time("inspection_finished_at", 6, func(n *n) *time.Time { return n.InspectionFinishedAt }),
		rest.Time("inspection_started_at", 6, func(n *n) *time.Time { return n.InspectionStartedAt }),
		iface("inspect", 31),
		rest.Object("instance_info", 1, both, nodeapi.MaskInstance,
			func(n *n) *map[string]any { return &n.InstanceInfo }),
		instanceNameField(),
		rest.UUID("instance_uuid", 1, both, func(n *n) *string { return &n.InstanceUUID }),
		guarded(rules, rest.Text("last_error", 1, 0, func(n *n) *string { return &n.LastError }), false),
		rest.Text("lessee", 65, both, func(n *n) *string { return &n.Lessee }),
		rest.Flag("maintenance", 1, both, false, func(n *n) *bool { return &n.Maintenance }),
		rest.Text("maintenance_reason", 1, 0, func(n *n) *string { return &n.MaintenanceReason }),
		iface("management", 31),
		nameField(),
		networkDataField(),
		iface("network", 20),
		rest.Text("owner", 50, both, func(n *n) *string { return &n.Owner }),
		rest.UUID("parent_node", 83, both, func(n *n) *string { return &n.ParentNode }),
		iface("power", 31),
		rest.Text("power_state", 1, 0, func(n *n) *node.PowerState { return &n.PowerState }),
		propertiesField(),
		rest.Flag("protected", 48, rest.Patchable, false, func(n *n) *bool { return &n.Protected }),
		rest.Text("protected_reason", 48, rest.Patchable, func(n *n) *string { return &n.ProtectedReason }),
		rest.Computed("provision_state", 1, rest.Sortable, showProvisionState),
		rest.Time("provision_updated_at", 1, func(n *n) *time.Time { return n.ProvisionUpdatedAt }),
		rest.Object("raid_config", 12, 0, nil, func(n *n) *map[string]any { return &n.RAIDConfig }),
		iface("raid", 31),
		iface("rescue", 38),
		guarded(rules,
			rest.Computed("reservation", 1, 0, func(dst []byte, v *rest.View[n]) []byte {
				return rest.AppendText(dst, v.Reserved)
			}), false),
		rest.Sized("resource_class", 21, both, 80, func(n *n) *string { return &n.ResourceClass }),
		rest.Flag("retired", 61, both, false, func(n *n) *bool { return &n.Retired }),
		rest.Text("retired_reason", 61, both, func(n *n) *string { return &n.RetiredReason }),
		rest.OptionalFlag("secure_boot", 75, 0, func(n *n) **bool { return &n.SecureBoot }),
		stepField("service_step", 87, "service"),
		rest.Text("shard", 82, both, func(n *n) *string { return &n.Shard }),
		iface("storage", 33),
		rest.Text("target_power_state", 1, 0, func(n *n) *node.PowerState { return &n.TargetPowerState }),
		rest.Text("target_provision_state", 1, 0, func(n *n) *node.State { return &n.TargetProvisionState }),
		rest.Object("target_raid_config", 12, 0, nil, func(n *n) *map[string]any { return &n.TargetRAIDConfig }),
		rest.Computed("traits", 37, 0, func(dst []byte, v *rest.View[n]) []byte {
			return rest.AppendTexts(dst, v.Of.Traits)
		}),
		iface("vendor", 31),
		rest.Computed("links", 1, 0, func(dst []byte, v *rest.View[n]) []byte {
			return rest.AppendLinks(dst, v.Base, "nodes/", v.Of.UUID)
		}),
		rest.Computed("conductor", 49, 0, func(dst []byte, v *rest.View[n]) []byte { return rest.AppendText(dst, v.Host) }),
		rest.UUID("allocation_uuid", 52, 0, func(n *n) *string { return &n.AllocationUUID }),
		rest.UUID("chassis_uuid", 1, both, func(n *n) *string { return &n.ChassisUUID }),
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
