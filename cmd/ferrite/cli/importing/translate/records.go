package translate

import (
	"maps"
	"slices"
)

// The fields of a node's records that are taken.
var (
	portFields = []string{"uuid", "address", "name", "description", "pxe_enabled", "local_link_connection",
		"portgroup_uuid", "physical_network", "is_smartnic", "extra", "internal_info", "vendor", "category",
		"available_for_dynamic_portgroup"}
	portgroupFields = []string{"uuid", "name", "address", "mode", "properties", "standalone_ports_supported", "extra",
		"internal_info", "physical_network", "category"}
	connectorFields  = []string{"uuid", "type", "connector_id", "extra"}
	targetFields     = []string{"uuid", "volume_type", "volume_id", "boot_index", "properties", "extra"}
	allocationFields = []string{"uuid", "name", "resource_class", "traits", "candidate_nodes", "extra", "owner"}

	// followed are the fields of records that every import has, or that follow from others.
	followed = []string{"created_at", "updated_at", "links", "node_uuid", "ports", "dynamic_portgroup", "state",
		"last_error"}
)

// attached is the only key kept of internal_info: the virtual interface that a tenant uses. The other keys concern
// Ironic's boots.
const attached = "tenant_vif_port_id"

func (n *Node) records(kind string, records []Record, fields []string) (all []Record) {
	for _, r := range records {
		all = append(all, n.record(kind, r, fields))
	}
	return all
}

func (n *Node) record(kind string, r Record, fields []string) Record {
	out := Record{}
	for _, key := range fields {
		if v := r[key]; v != nil {
			out[key] = v
		}
	}
	if info, ok := out["internal_info"].(map[string]any); ok {
		delete(out, "internal_info")
		if id := info[attached]; id != nil {
			out["internal_info"] = map[string]any{attached: id}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r)) {
		if !slices.Contains(fields, key) && !slices.Contains(followed, key) && !empty(r[key]) {
			n.note("field %s of %s %s is not known here and is left out", key, kind, text(r, "uuid"))
		}
	}
	return out
}

// allocation takes over the allocation that has the node.
func (n *Node) allocation(node Record, allocations []Record) {
	for _, a := range allocations {
		switch {
		case text(a, "state") != "active":
		case text(a, "uuid") != text(node, "instance_uuid"):
			n.note("allocation %s is not its instance_uuid, and is left out", text(a, "uuid"))
		default:
			n.Import.Allocation = n.record("allocation", a, allocationFields)
		}
	}
}

// Chassis, DeployTemplate and Runbook are records that belong to no node, as an import takes them.

// Chassis is one.
func Chassis(r Record) Record { return plain(r, "uuid", "description", "extra") }

// DeployTemplate is one.
func DeployTemplate(r Record) Record { return plain(r, "uuid", "name", "steps", "extra") }

// Runbook is one.
func Runbook(r Record) Record {
	return plain(r, "uuid", "name", "steps", "extra", "owner", "public", "disable_ramdisk", "description", "traits")
}

func plain(r Record, fields ...string) Record {
	out := Record{}
	for _, key := range fields {
		if v := r[key]; v != nil {
			out[key] = v
		}
	}
	return out
}
