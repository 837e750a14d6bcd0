package mem

import "github.com/ferrite-metal/ferrite/conductor/node"

// Records that nodes and ports name must exist, and stay as long as they are named.

// hold makes the catalog known that has the records of a holder.
func (s *Store) hold(holder node.Holder, has func(uuid string) bool) {
	s.holders[holder.Holds()] = has
}

// unheld refuses a reference of a node or port to a missing record.
func (s *Store) unheld(holds, kind, uuid string) error {
	if uuid == "" || s.holders[holds](uuid) {
		return nil
	}
	return node.Refuse(node.Invalid, "%s %s could not be found.", kind, uuid)
}

// named reports whether a node, or a port, names a record.
func (s *Store) named(holds, uuid string) bool {
	switch holds {
	case "nodes":
		for _, r := range s.nodes.rows {
			if r.v.ChassisUUID == uuid {
				return true
			}
		}
	case "ports":
		for _, r := range s.ports.rows {
			if r.v.PortgroupUUID == uuid {
				return true
			}
		}
	}
	return false
}
