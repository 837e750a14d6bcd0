package powersync

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// reports holds the latest sensor readings, by node. They are kept in memory only: readings from before the conductor's
// start are out of date.
type reports struct {
	mu    sync.Mutex
	of    map[string]node.SensorReport
	order []node.Sensed // of the first readings; a report that is no longer the node's is empty
	place map[string]int
}

func newReports() reports {
	return reports{of: map[string]node.SensorReport{}, place: map[string]int{}}
}

func (r *reports) put(n node.Node, report node.SensorReport) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[n.UUID] = report
	at, has := r.place[n.UUID]
	if !has {
		at = len(r.order)
		r.order, r.place[n.UUID] = append(r.order, node.Sensed{}), at
	}
	r.order[at] = node.Sensed{Node: n.UUID, Name: n.Name, Instance: n.InstanceUUID, Report: report}
}

// each calls visit with the reports in the order of the first readings, until it returns false.
func (r *reports) each(visit func(node.Sensed) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.order {
		if s.Node != "" && !visit(s) {
			return
		}
	}
}

func (r *reports) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.of)
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
	at, has := r.place[uuid]
	if !has {
		return
	}
	delete(r.place, uuid)
	r.order[at] = node.Sensed{}
	if len(r.order) > 2*len(r.of)+16 { // mostly of nodes that are gone
		r.order = slices.DeleteFunc(r.order, func(s node.Sensed) bool { return s.Node == "" })
		for i, s := range r.order {
			r.place[s.Node] = i
		}
	}
}

// EachSensorReport calls visit with the last readings, in the order of the first ones, until it returns false. It must
// not call back.
func (e *Sync) EachSensorReport(visit func(node.Sensed) bool) { e.sensors.each(visit) }

// SensorReports is how many nodes' sensors were read.
func (e *Sync) SensorReports() int { return e.sensors.count() }

// SensorReport is the last reading of a node's sensors; false where there was none since the conductor started. It is
// not to be changed.
func (e *Sync) SensorReport(uuid string) (node.SensorReport, bool) { return e.sensors.get(uuid) }

// readSensors reads the BMC's sensors in the node's turn for its power: a BMC gets one request at a time.
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
	e.sensors.put(n, report)
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

// sensorsDue reports whether a node's sensors are due to be read. If so, it counts them as read. An interval of 0 is
// never.
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
