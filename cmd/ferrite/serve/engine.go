package serve

import (
	"context"
	"errors"
	"net/netip"

	"github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/bmc/exchangelog"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/boot/configdrive"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/server/metrics"
)

// openDrivers makes the drivers of BMCs. Nothing is sent unless p.check allows it.
func (w *work) openDrivers(p parts) (err error) {
	c := w.conf
	if w.dialled, err = c.dialling(p.check, w.log); err != nil {
		return err
	}
	o, err := c.bmcOptions(w.log)
	if err != nil {
		return err
	}
	o.Dialer, o.Sessions, o.Called = w.dialled.toBMCs, p.bmcs, w.counters.Called
	if w.drivers, err = bmc.New(c.HardwareTypes, o); err != nil {
		return err
	}
	if err := c.checkPriorities(w.drivers); err != nil {
		return errors.Join(err, w.drivers.Close())
	}
	return nil
}

// hardwareTypes is the drivers as the engine knows them.
func hardwareTypes(drivers *bmc.Set) map[string]engine.BMC {
	bmcs := map[string]engine.BMC{}
	for name, d := range drivers.Types() {
		bmcs[name] = d
	}
	return bmcs
}

// makeEngine makes the engine, and the parts that observe it.
func (w *work) makeEngine(_ context.Context, p parts) error {
	c := w.conf
	w.calls = exchangelog.New(w.tracer)
	conf := engine.Config{
		Now: w.now, Store: p.db, Group: p.group, BMCs: hardwareTypes(w.drivers), Agents: agents.NewClient(w.dialled.toAgents),
		Drives: configdrive.Encoder{}, Images: w.sources, Probe: c.probe(w.dialled.registries),
		EraseKey: p.keys.Erase, RuleCalls: w.dialled.rules.Client(),
		BootLogs: w.logs, Settings: c.Settings, Log: w.log,
		Workers: c.Workers, PowerWorkers: c.SyncWorkers,
		Discovery: c.discovery(w.dialled), CheckForm: driverinfo.CheckForm,
		RamdiskAuth: c.ramdiskAuth(p.keys.Secrets),
		Observer:    w.counters, Observations: p.observations.Recall(), Traces: w.calls,
	}
	for _, complete := range w.configured {
		complete(&conf)
	}
	w.engine = engine.New(conf)
	w.engine.Listen(w.events)
	w.engine.Listen(w.counters.Nodes)
	w.engine.Watch(w.events.Report)
	for _, enter := range w.made {
		enter(w.engine)
	}
	p.observations.SetEngine(w.engine)
	w.measure(p)
	return nil
}

// discovery sets how unknown machines are handled.
func (c Config) discovery(dialled calls) engine.Discovery {
	d := c.Discovery
	d.Redfish = func(ctx context.Context, at netip.Addr) bool { return redfish.Answers(ctx, dialled.toBMCs, at) }
	return d
}

// measure has the counters look at the conductor.
func (w *work) measure(p parts) {
	watched := metrics.Config{Pending: w.engine.PendingEffects, Sensors: w.engine, SensorSeries: w.conf.SensorSeries,
		Free: func() float64 { return freeRoom(w.conf.DataDir) }, Clock: w.engine.Now}
	if w.first { // it is one for all groups
		watched.Audit = w.record.Size
	}
	if p.group == nil { // a member of a cluster says so whether it leads or not
		watched.Ready, watched.Streams = p.ready, p.streams.Counts
	}
	for _, complete := range w.measured {
		complete(&watched)
	}
	w.counters.Watch(watched)
}
