// Package translate turns records of Ironic into imports of a Ferrite: plain data in, plain data out.
//
// It makes no requests, and leaves nothing out without a note.
package translate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Record is one record as Ironic shows it.
type Record = map[string]any

// Records are an Ironic's records, as far as they belong to nodes.
type Records struct {
	Nodes, Ports, Portgroups, Connectors, Targets, Allocations []Record
}

// Options controls the translation of nodes.
type Options struct {
	Source       string
	Drivers      Drivers
	Replace      Replacements
	KeepRamdisks bool // leave driver_info's own kernel and ramdisk
	Secrets      Secrets
}

// Node is a node on its way.
type Node struct {
	UUID, Name, State string
	Import            nodeapi.Import
	Skip              string   // why it is left out; "" for not
	Notes             []string // differences from Ironic
}

func (n *Node) note(format string, args ...any) {
	n.Notes = append(n.Notes, fmt.Sprintf(format, args...))
}

// Nodes translates all nodes, parents before their children.
func Nodes(r Records, o Options) []Node {
	ports, groups := byNode(r.Ports), byNode(r.Portgroups)
	connectors, targets, allocations := byNode(r.Connectors), byNode(r.Targets), byNode(r.Allocations)
	all := make([]Node, 0, len(r.Nodes))
	for _, record := range parentsFirst(r.Nodes) {
		n := Node{UUID: text(record, "uuid"), Name: text(record, "name"), State: text(record, "provision_state")}
		if n.Skip = atWork(record); n.Skip == "" {
			n.Import.Source = o.Source
			n.Import.Node = n.fields(record, o)
			n.Import.Ports = n.records("port", ports[n.UUID], portFields)
			n.Import.Portgroups = n.records("portgroup", groups[n.UUID], portgroupFields)
			n.Import.Connectors = n.records("connector", connectors[n.UUID], connectorFields)
			n.Import.Targets = n.records("target", targets[n.UUID], targetFields)
			n.allocation(record, allocations[n.UUID])
			n.unmask(o.Secrets)
		}
		all = append(all, n)
	}
	return all
}

func text(r Record, key string) string {
	s, _ := r[key].(string)
	return s
}

func byNode(records []Record) map[string][]Record {
	all := map[string][]Record{}
	for _, r := range records {
		id := text(r, "node_uuid")
		all[id] = append(all[id], r)
	}
	return all
}

// parentsFirst orders nodes so that none comes before its parent. Nodes of a circle keep their places: the import
// refuses them.
func parentsFirst(nodes []Record) []Record {
	depth := map[string]int{}
	parents := map[string]string{}
	for _, n := range nodes {
		parents[text(n, "uuid")] = text(n, "parent_node")
	}
	for id := range parents {
		for at := parents[id]; at != "" && depth[id] < len(nodes); at = parents[at] {
			depth[id]++
		}
	}
	out := slices.Clone(nodes)
	slices.SortStableFunc(out, func(a, b Record) int { return depth[text(a, "uuid")] - depth[text(b, "uuid")] })
	return out
}

// atRest are the states in which nothing is done to a machine. The holds are not among them: the run of a node in a
// hold goes on in the Ironic that knows its steps.
var atRest = slices.DeleteFunc(nodeapi.RestingStates(), func(s string) bool { return strings.HasSuffix(s, " hold") })

// atWork says why a node is left out: Ironic is amid something with it.
func atWork(n Record) string {
	state := text(n, "provision_state")
	switch {
	case n["provision_state"] == nil: // of 1.1, for available
		return "it has no provision_state"
	case !slices.Contains(atRest, state):
		return fmt.Sprintf("Ironic is at work on it (%s): import it again when that has ended", state)
	case text(n, "reservation") != "":
		return fmt.Sprintf("the Ironic conductor %s has it reserved: import it again in a minute", text(n, "reservation"))
	case text(n, "target_power_state") != "":
		return fmt.Sprintf("its power is being changed to %q: import it again in a minute", text(n, "target_power_state"))
	}
	return ""
}

// fields returns the node's own fields. Other functions translate the fields left out here; some belong to the running
// Ironic alone.
func (n *Node) fields(r Record, o Options) Record {
	out, known := Record{}, map[string]bool{}
	for _, f := range nodeapi.NodeFields() {
		known[f.Name] = true
		apart := f.Interface || f.Name == "driver" || f.Name == "power_state"
		if v := r[f.Name]; v != nil && f.Import && !apart {
			out[f.Name] = v
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r)) {
		if !known[key] && !strings.HasSuffix(key, "_interface") && !empty(r[key]) {
			n.note("field %s is not known here and is left out", key)
		}
	}
	if power := text(r, "power_state"); power == "power on" || power == "power off" {
		out["power_state"] = power
	}
	if r["console_enabled"] == true {
		n.note("its console was enabled: open it here with: ferrite node console %s",
			cmp.Or(text(r, "name"), text(r, "uuid"), "NODE"))
	}
	for _, key := range []string{"conductor_group", "owner", "lessee"} {
		if is, ok := out[key].(string); ok {
			if to, replaced := o.Replace.of(key, is); replaced {
				out[key] = to
			}
		}
	}
	n.driver(r, out, o)
	n.ramdisks(out, o)
	return out
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// ownRamdisk are the settings that name Ironic's own ramdisk.
var ownRamdisk = []string{"deploy_kernel", "deploy_ramdisk", "rescue_kernel", "rescue_ramdisk", "deploy_iso",
	"rescue_iso",
	"deploy_kernel_by_arch", "deploy_ramdisk_by_arch", "rescue_kernel_by_arch", "rescue_ramdisk_by_arch", "bootloader",
	"bootloader_by_arch"}

// ramdisks leaves out the ramdisk of the other Ironic, which its own HTTP server serves.
func (n *Node) ramdisks(out Record, o Options) {
	info, ok := out["driver_info"].(map[string]any)
	if !ok || o.KeepRamdisks {
		return
	}
	info = maps.Clone(info)
	var gone []string
	for _, key := range ownRamdisk {
		if info[key] != nil {
			gone = append(gone, key)
			delete(info, key)
		}
	}
	if out["driver_info"] = info; gone != nil {
		n.note("driver_info %s left out: the conductor boots its own ramdisk (--keep-ramdisks keeps them)",
			strings.Join(gone, ", "))
	}
}
