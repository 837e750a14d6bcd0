package store

import "github.com/ferrite-metal/ferrite/conductor/node"

const (
	connectors table[node.VolumeConnector, *node.VolumeConnector] = "volume_connectors"
	targets    table[node.VolumeTarget, *node.VolumeTarget]       = "volume_targets"
)

// applyVolumes deletes the portgroups that a change drops, and writes its volumes.
func (t *tx) applyVolumes(c *node.Change) error {
	for _, uuid := range c.DropPortgroups {
		if err := portgroups.drop(t, uuid); err != nil {
			return err
		}
	}
	if err := applyTable(t, connectors, c.Volumes.DropConnectors, c.Volumes.Connectors); err != nil {
		return err
	}
	return applyTable(t, targets, c.Volumes.DropTargets, c.Volumes.Targets)
}

func applyTable[T any, P node.Recorded[T]](t *tx, kept table[T, P], drop []string, put []T) error {
	for _, uuid := range drop {
		if err := kept.drop(t, uuid); err != nil {
			return err
		}
	}
	for _, v := range put { // a copy of the caller's
		if err := kept.putAt(t, P(&v)); err != nil {
			return err
		}
	}
	return nil
}
