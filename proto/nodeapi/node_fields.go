package nodeapi

import (
	"slices"
	"strings"
)

// NodeField is the part of a field's row that clients need. They must not import conductor/node, which has the table.
type NodeField struct {
	Name      string
	Object    bool   // free-form JSON
	Interface bool   // <kind>_interface
	Import    bool   // an import takes it
	Flag      string // help of its flag of node create and node set; "" for no such flag
	List      string // help of its flag of node list; "" for no such flag
}

// NodeFields are the fields of a node, in the order of the API.
func NodeFields() []NodeField { return slices.Clone(nodeFields) }

// FlagName is the name of the field's flag: its label's flag, else the field with dashes.
func (f NodeField) FlagName() string {
	for _, l := range nodeLabels {
		if l.Path == f.Name && l.Flag != "" {
			return l.Flag
		}
	}
	return strings.ReplaceAll(f.Name, "_", "-")
}
