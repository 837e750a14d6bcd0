package mem

import "github.com/ferrite-metal/ferrite/conductor/node"

// volumes deletes the portgroups that a change drops, and writes its volumes.
func (c *change) volumes(n *node.Change) error {
	if err := dropAll(c, c.s.portgroups, n.DropPortgroups); err != nil {
		return err
	}
	if err := dropAll(c, c.s.connectors, n.Volumes.DropConnectors); err != nil {
		return err
	}
	if err := putAll(c, c.s.connectors, n.Volumes.Connectors...); err != nil {
		return err
	}
	if err := dropAll(c, c.s.targets, n.Volumes.DropTargets); err != nil {
		return err
	}
	return putAll(c, c.s.targets, n.Volumes.Targets...)
}

func putAll[T any, P node.Recorded[T]](c *change, kept *catalog[T, P], records ...T) error {
	for _, v := range records {
		undo, err := kept.putAt(v)
		if err != nil {
			return err
		}
		c.did(undo)
	}
	return nil
}

func dropAll[T any, P node.Recorded[T]](c *change, kept *catalog[T, P], uuids []string) error {
	for _, uuid := range uuids {
		undo, err := kept.remove(uuid)
		if err != nil {
			return err
		}
		c.did(undo)
	}
	return nil
}
