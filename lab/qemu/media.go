package qemu

import (
	"context"
	"fmt"
)

// InsertMedia puts the image at a path or an http(s) URL into the CD drive: at once when the
// machine runs, and for every start until EjectMedia. Only the next start can
// boot from it.
func (m *Machine) InsertMedia(ctx context.Context, image string) error {
	return m.changeMedia(ctx, image, "blockdev-change-medium", map[string]any{
		"id": cdID, "filename": image, "format": "raw", "read-only-mode": "read-only",
	})
}

// EjectMedia empties the CD drive, even when the guest has locked it.
func (m *Machine) EjectMedia(ctx context.Context) error {
	return m.changeMedia(ctx, "", "eject", map[string]any{"id": cdID, "force": true})
}

func (m *Machine) changeMedia(ctx context.Context, image, command string, arguments map[string]any) error {
	m.op.Lock()
	defer m.op.Unlock()
	m.settle()
	if p := m.current(); p != nil {
		if err := p.monitor.execute(ctx, command, arguments); err != nil {
			return fmt.Errorf("machine %s: virtual media: %w", m.spec.Name, err)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.media = image
	return nil
}
