package powersync

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// reports are the last readings of sensors, by node. They are kept in memory alone: what was measured before the
// conductor started is of no use to anybody.
type reports struct {
	mu sync.Mutex
	of map[string]node.SensorReport
}

func (r *reports) put(uuid string, report node.SensorReport) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[uuid] = report
}

func (r *reports) get(uuid string) (node.SensorReport, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	report, has := r.of[uuid]
	return report, has
}

func (r *reports) forget(uuid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, uuid)
}

// SensorReport is the last reading of a node's sensors; false where there was none since the conductor started. It is
// not to be changed.
func (e *Sync) SensorReport(uuid string) (node.SensorReport, bool) { return e.sensors.get(uuid) }

// readSensors reads what the BMC measures, in the node's turn for its power: a BMC is asked one thing at a time.
func (e *Sync) readSensors(ctx context.Context, bmc core.BMC, n node.Node) {
	reader, ok := bmc.(core.SensorReader)
	if !ok || n.Maintenance || !e.schedule.sensorsDue(n.UUID, e.Settings.SensorInterval, e.Now()) {
		return
	}
	call, cancel := context.WithTimeout(ctx, e.Patience(n).Scan())
	defer cancel()
	report, err := e.askSensors(call, reader, n)
	if err != nil {
		if ctx.Err() == nil {
			e.Log.Info("sensors not read; the next reading is another chance", "node", n.UUID, "err", err)
		}
		return
	}
	report.At = e.Now()
	e.sensors.put(n.UUID, report)
	read := plan.SensorsRead{Critical: names(report.Unwell("Critical"))}
	if !plan.SensorNews(n, read) {
		return
	}
	if _, err := e.Act(ctx, n.UUID, read); err != nil && !errors.Is(err, node.ErrNotFound) && ctx.Err() == nil {
		e.Log.Error("the health of parts is not in the node's history", "node", n.UUID, "err", err)
	}
}

func names(all []node.Sensor) (out []string) {
	for _, s := range all {
		out = append(out, s.Group+" "+s.Name)
	}
	return out
}

// askSensors asks a BMC. A driver that panics has failed: see guard.
func (e *Sync) askSensors(ctx context.Context, r core.SensorReader, n node.Node) (report node.SensorReport, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			e.Log.Error("reading the sensors panicked", "node", n.UUID, "panic", fault, "stack", string(debug.Stack()))
			err = node.Refuse(node.Invalid, "a fault in this program: %v; please report it with the log", fault)
		}
	}()
	return r.Sensors(ctx, n)
}

// sensorsDue reports whether a node's sensors are to be read, and takes it that they are. An interval of 0 is never.
func (s *schedule) sensorsDue(uuid string, every time.Duration, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.turns[uuid]
	if !ok || every == 0 || now.Sub(t.sensors).Abs() < every {
		return false
	}
	t.sensors = now
	return true
}
