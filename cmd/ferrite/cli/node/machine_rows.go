package node

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
)

// machineRow is a row of node show: its name and its text, empty for none.
type machineRow struct {
	name string
	text func(m machine) string
}

// machineRows are the rows of node show in their order: the most urgent facts come first.
func machineRows() []machineRow {
	return []machineRow{
		{"name", field("name")},
		{"uuid", field("uuid")},
		{"state", machine.state},
		{"power", machine.power},
		{"maintenance", machine.maintenance},
		{"last error", func(m machine) string { return cmp.Or(m.status.LastError, m.text("last_error")) }},
		{"waits for", func(m machine) string { return m.status.WaitingFor }},
		{"until", func(m machine) string { return wait.Clock(m.status.Until) }},
		{"try", func(m machine) string { return m.status.Try }},
		{"bmc", machine.bmc},
		{"network", machine.network},
		{"disks", machine.diskLines},
		{"hardware", machine.hardware},
		{"image", func(m machine) string { return m.within("instance_info", "image_source") }},
		{"instance", field("instance_uuid")},
		{"class", field("resource_class")},
		{"traits", field("traits")},
		{"owner", field("owner")},
		{"lessee", field("lessee")},
		{"protected", func(m machine) string { return m.mark("protected", "protected_reason") }},
		{"retired", func(m machine) string { return m.mark("retired", "retired_reason") }},
		{"description", field("description")},
		{"properties", field("properties")},
		{"extra", field("extra")},
		{"conductor", field("conductor")},
		{"group", field("conductor_group")},
		{"shard", field("shard")},
		{"part of", field("parent_node")},
		{"inspected", field("inspection_finished_at")},
		{"created", field("created_at")},
		{"changed", field("updated_at")},
	}
}

// table is the rows that have a text, and with -o wide all fields of the record after them.
func (m machine) table(s *client.Session) *output.Table {
	t := output.NewTable()
	for _, r := range machineRows() {
		t.Pair(r.name, r.text(m))
	}
	for _, name := range output.Sorted(m.record) {
		if s.Wide() && !slices.Contains([]string{"links", "ports", "states", "portgroups", "volume"}, name) {
			t.Row(name, m.text(name))
		}
	}
	return t
}

func field(name string) func(m machine) string { return func(m machine) string { return m.text(name) } }

func (m machine) text(name string) string { return output.FieldText(name, m.record[name]) }

// within is a value of a field that is an object.
func (m machine) within(name, key string) string {
	object, _ := m.record[name].(map[string]any)
	return output.Cell(object[key])
}

// mark is "yes", with the reason, of a field that is true.
func (m machine) mark(name, reason string) string {
	if m.text(name) != "true" {
		return ""
	}
	return strings.TrimSuffix("yes: "+m.text(reason), ": ")
}

func (m machine) state() string {
	return arrow(m.text("provision_state"), m.text("target_provision_state"))
}

func (m machine) power() string {
	return arrow(cmp.Or(strings.TrimPrefix(m.text("power_state"), "power "), "unknown"),
		strings.TrimPrefix(m.text("target_power_state"), "power "))
}

// arrow is a state, and the target state.
func arrow(at, to string) string {
	if to == "" || to == at {
		return at
	}
	return at + " -> " + to
}

func (m machine) maintenance() string {
	if m.text("maintenance") != "true" {
		return ""
	}
	return strings.TrimSuffix("yes: "+cmp.Or(m.text("maintenance_reason"), m.text("fault")), ": ")
}

// bmc is the address of the BMC, and how it is spoken to.
func (m machine) bmc() string {
	address := ""
	object, _ := m.record["driver_info"].(map[string]any)
	for _, key := range output.Sorted(object) {
		if strings.HasSuffix(key, "_address") {
			address = output.Cell(object[key])
		}
	}
	return strings.TrimSpace(address + " (" + m.text("driver") + ")")
}

func (m machine) network() string {
	var lines []string
	for _, p := range m.ports {
		line := strings.TrimSpace(p.Address + "  " + m.ips[p.Address])
		if p.Network != "" {
			line += "  " + p.Network
		}
		if !p.Boots {
			line += "  (not booted from)"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func (m machine) diskLines() string {
	var lines []string
	for _, d := range m.disks {
		lines = append(lines, strings.Join(slices.DeleteFunc([]string{d.Name, wait.SizeText(d.Size), d.Model, d.Serial},
			func(part string) bool { return strings.TrimSpace(part) == "" }), "  "))
	}
	return strings.Join(lines, "\n")
}

// hardware is the size of the machine, by the properties that schedulers use.
func (m machine) hardware() string {
	var parts []string
	for _, p := range []struct{ key, unit string }{{"cpus", " CPUs"}, {"cpu_arch", ""}, {"memory_mb", " MB of memory"},
		{"local_gb", " GB of disk"}} {
		if text := m.within("properties", p.key); text != "" && text != "0" {
			parts = append(parts, fmt.Sprint(text, p.unit))
		}
	}
	return strings.Join(parts, ", ")
}
