// Package records keeps the records beside nodes: ports, portgroups, VIFs, traits,
// volumes, templates, runbooks and allocations, and gives nodes to allocations.
//
// It must not change the state of a node.
package records
