package erase

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// meter reports the progress of the slowest disk.
type meter struct {
	step   string
	report func(agentapi.Progress)

	mu    sync.Mutex
	disks []*measured
}

// measured is the progress of one disk.
type measured struct {
	device, method string
	size           int64
	share          float64
	over           bool
}

func newMeter(step string, plans []DiskPlan, report func(agentapi.Progress)) *meter {
	m := &meter{step: step, report: report}
	for _, p := range plans {
		m.disks = append(m.disks, &measured{device: p.Device, size: p.Size})
	}
	return m
}

// set notes how far a disk is with a method.
func (m *meter) set(device, method string, share float64) {
	m.change(device, func(d *measured) { d.method, d.share = method, share })
}

// done notes that a disk is done, successfully or not.
func (m *meter) done(device string) { m.change(device, func(d *measured) { d.over = true }) }

func (m *meter) change(device string, change func(*measured)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.disks {
		if d.device == device {
			change(d)
		}
	}
	m.report(m.now())
}

// now is the state of the slowest of the disks that are being erased; before
// and after them there is nothing to measure.
func (m *meter) now() agentapi.Progress {
	over := 0
	var working []*measured
	for _, d := range m.disks {
		if d.over {
			over++
		} else if d.method != "" {
			working = append(working, d)
		}
	}
	p := agentapi.Progress{Step: m.step, Stage: fmt.Sprintf("%d of %d disks done", over, len(m.disks))}
	if len(working) == 0 {
		return p
	}
	slowest := slices.MinFunc(working, func(a, b *measured) int { return cmp.Compare(a.share, b.share) })
	p.Stage += fmt.Sprintf("; %s by %s", slowest.device, slowest.method)
	p.Done, p.Total = int64(slowest.share*float64(slowest.size)), slowest.size
	return p
}
