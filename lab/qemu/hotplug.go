package qemu

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Unplug takes a disk out of the running machine, as if it were pulled out by hand: BusSCSI alone. The next start has
// it again.
func (m *Machine) Unplug(ctx context.Context, number int) error {
	return m.hotplug(ctx, number, func(p *process, d Disk) error {
		return p.monitor.execute(ctx, "device_del", map[string]any{"id": fmt.Sprintf("disk%d", number)})
	})
}

// Plug puts a disk back that Unplug took out.
func (m *Machine) Plug(ctx context.Context, number int) error {
	return m.hotplug(ctx, number, func(p *process, d Disk) error {
		drive := "plugged-" + uuid.NewString()[:8]
		// QEMU opens the file once the device that had it is quite gone.
		open := func() error {
			return p.monitor.execute(ctx, "blockdev-add", map[string]any{
				"driver": d.Format, "node-name": drive, "discard": "unmap", "detect-zeroes": "unmap",
				"cache": map[string]any{"no-flush": true},
				"file":  map[string]any{"driver": "file", "filename": d.Path},
			})
		}
		err := open()
		for range 100 {
			if err == nil || ctx.Err() != nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
			err = open()
		}
		if err != nil {
			return err
		}
		device := map[string]any{"driver": "scsi-hd", "bus": "scsi.0", "id": fmt.Sprintf("disk%d", number), "drive": drive,
			"serial": d.Serial, "logical_block_size": d.LogicalSectorSize, "physical_block_size": d.LogicalSectorSize}
		if d.Plain {
			device["discard_granularity"] = 0
		}
		return p.monitor.execute(ctx, "device_add", device)
	})
}

func (m *Machine) hotplug(ctx context.Context, number int, do func(p *process, d Disk) error) error {
	m.op.Lock()
	defer m.op.Unlock()
	m.settle()
	p := m.current()
	switch {
	case number < 0 || number >= len(m.spec.Disks):
		return fmt.Errorf("machine %s has %d disks, and no disk %d", m.spec.Name, len(m.spec.Disks), number)
	case m.spec.Disks[number].Bus != BusSCSI:
		return fmt.Errorf("machine %s: disk %d is on bus %s, expected %s", m.spec.Name, number, m.spec.Disks[number].Bus,
			BusSCSI)
	case p == nil:
		return fmt.Errorf("machine %s is off: disks of it are plugged while it runs", m.spec.Name)
	}
	if err := do(p, m.spec.Disks[number]); err != nil {
		return fmt.Errorf("machine %s: disk %d: %w", m.spec.Name, number, err)
	}
	return nil
}
