package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/agents/bootlog"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/audit"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/nodecheck"
	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/bmc/exchangelog"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/boot/configdrive"
	"github.com/ferrite-metal/ferrite/conductor/cluster/handover"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/events"
	docevents "github.com/ferrite-metal/ferrite/conductor/extras/hosts/events"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/reconciler"
	"github.com/ferrite-metal/ferrite/conductor/extras/signals/traces"
	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagelibrary"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/outbound/cacert"
	"github.com/ferrite-metal/ferrite/conductor/server/certificate"
	"github.com/ferrite-metal/ferrite/conductor/server/clock"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/server/metrics"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// parts are what a conductor works with, beside its settings.
type parts struct {
	db      Database
	keys    datafolder.Keys
	who     *auth.Authenticator      // nil: anybody may do anything
	cert    *certificate.Certificate // nil for plain HTTP
	api     net.Addr                 // where the API is
	images  *imagestore.Store        // the bytes of images
	peers   imagelibrary.Peers       // nil without a cluster
	ready   func() error             // why the database cannot be used; nil where it always can
	fail    context.CancelCauseFunc  // ends the conductor's work, for the reason given
	group   *string                  // whose nodes it has; nil for those of all
	leaders api.Leaders              // nil without a cluster
	streams *connlimit.Streams       // of the process
	metrics *metrics.Metrics         // of a term; nil for a conductor of its own
	bmcs    redfish.Sessions         // nil without a cluster
	logs    bootlog.Storage          // of a cluster; nil for files in the data folder
	sights  *handover.Sights         // of a cluster; nil for what is forgotten with the process
	hosts   *groupHosts              // nil without a cluster
	check   func() error             // refuses to send anything to a BMC or an agent; nil where it always may
}

// counters are the metrics of a term, or of a conductor of its own.
func (p parts) counters() *metrics.Metrics {
	if p.metrics == nil {
		return metrics.New()
	}
	return p.metrics
}

// recorder is the name of a chain of the audit record. A conductor may lead two groups, and has a chain for each.
func (p parts) recorder(host string) string {
	if p.group == nil || *p.group == "" {
		return host
	}
	return host + "/" + *p.group
}

// work is a conductor at work: everything that it has in memory, and the threads of it.
type work struct {
	conf    Config
	log     *slog.Logger
	fail    context.CancelCauseFunc
	engine  *engine.Engine
	hosts   *reconciler.Reconciler
	face    *api.API
	images  *imagelibrary.Library
	boot    *bootserver.Server // nil without --boot
	scrapes *metricsServer     // nil without --metrics-address

	counters *metrics.Metrics
	tracer   *traces.Tracer // nil without --traces-endpoint
	calls    *exchangelog.Log
	events   *events.Log
	told     []func(context.Context) // run beside the engine: events, and what reads them
	first    bool                    // of the default group, to which documents and events belong
	sights   *handover.Sights        // nil without a cluster
	between  http.Handler            // the calls of other leaders; nil without a cluster
	drivers  *bmc.Set
	record   *audit.Recorder
	kept     sync.WaitGroup // ends with the context of assemble
}

// assemble wires the conductor of the nodes in a store, and takes them up where the last one left them. ctx ends its
// work; close ends what is left.
func (c Config) assemble(ctx context.Context, p parts, log *slog.Logger) (_ *work, err error) {
	now := clock.New(log).Now
	counters := p.counters()
	w := &work{conf: c, log: log, fail: p.fail, counters: counters}
	dialled, calling, err := c.dialling(p.check, log)
	if err != nil {
		return nil, err
	}
	if w.drivers, err = bmc.New(c.HardwareTypes,
		bmc.Options{Log: log, CAs: cacert.Folder(c.CAFolder), Dialer: dialled.toBMCs, Patience: c.patience(),
			Sessions: p.bmcs, Called: counters.Called}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.drivers.Close(), w.scrapes.close())
		}
	}()
	logs, err := c.logs(p)
	if err != nil {
		return nil, err
	}
	if err := w.openEvents(ctx, p.db, now); err != nil {
		return nil, err
	}
	documents, err := objects.New(ctx, objects.Config{Store: p.db, Key: p.keys.Secrets, Witness: w.events, Now: now})
	if err != nil {
		return nil, err
	}
	images, err := w.findImages(ctx, p, dialled.registries)
	if err != nil {
		return nil, err
	}
	eventLog := docevents.New(now)
	w.hosts = reconciler.New(reconciler.Config{Documents: documents, Log: log, ProvisioningLimit: c.HostLimit,
		RecordEvents: eventLog.Add, Groups: p.hosts.groups(), Now: now})
	bmcs := hardwareTypes(w.drivers)
	if w.record, err = audit.Open(ctx, p.db, p.recorder(c.Host), now); err != nil {
		return nil, err
	}
	if w.tracer, err = c.tracer(log); err != nil {
		return nil, err
	}
	conf := engine.Config{
		Now: now, Store: p.db, Group: p.group, BMCs: bmcs, Agents: agents.NewClient(calling), Drives: configdrive.Encoder{},
		Images:   images,
		Networks: dialled.networks,
		Probe:    c.probe(dialled.registries),
		EraseKey: p.keys.Erase, RuleCalls: dialled.rules.Client(),
		BootLogs: logs, Settings: c.settings(), Log: log,
		Workers: c.Workers, PowerWorkers: c.SyncWorkers,
		Discovery: c.discovery(dialled), CheckForm: driverinfo.CheckForm,
		Proof:    c.proof(p.keys.Secrets),
		Observer: counters, Live: p.sights.Wrap(tracedBy(w.tracer, w.events.Report)),
		Sights: p.sights.Recall(),
	}
	w.observe(conf, p)
	p.sights.SetEngine(w.engine)
	w.sights = p.sights
	if err := c.takeUp(ctx, w.engine, logs); err != nil {
		return nil, err
	}
	if w.scrapes, err = c.listenMetrics(counters, log); err != nil {
		return nil, err
	}
	if w.boot, err = c.listenBoot(ctx, w.engine, images, p, dialled.registries, counters, log); err != nil {
		return nil, err
	}
	w.first = p.group == nil || *p.group == ""
	w.beginHosts(ctx, p)
	consoles := c.consoles(ctx, &w.kept, w.engine, bmcs, logs, log)
	w.face = c.api(ctx, c.limits(p.db), p.ready, w.engine, w.images, documents, w.hosts, eventLog, w.events, w.record,
		logs, consoles, w.boot, counters, w.tracer, w.calls, p.leaders, p.streams, p.who, log)
	return w, nil
}

// beginHosts reconciles hosts until ctx ends, where documents are this conductor's, and has it work with other leaders.
func (w *work) beginHosts(ctx context.Context, p parts) {
	w.between = p.hosts.begin(ctx, &w.kept, w.engine, w.hosts)
	if !w.first {
		return
	}
	w.dropReports(ctx, p.db)
	w.kept.Go(func() {
		w.engine.AwaitResume(ctx) // hosts act, too
		w.hosts.Run(ctx, w.engine)
	})
}

// dropReports deletes the erase reports of nodes that are long gone.
func (w *work) dropReports(ctx context.Context, db Database) {
	w.kept.Go(func() {
		w.engine.AwaitResume(ctx)
		n, err := db.DropOldEraseReports(ctx, time.Now().Add(-store.OrphanReportsKept))
		if err != nil && ctx.Err() == nil {
			w.log.Error("old erase reports stay until the next start", "err", err)
		} else if n > 0 {
			w.log.Info("erase reports of nodes that are gone deleted", "count", n, "older_than", store.OrphanReportsKept)
		}
	})
}

// hardwareTypes is the drivers as the engine knows them.
func hardwareTypes(drivers *bmc.Set) map[string]engine.BMC {
	bmcs := map[string]engine.BMC{}
	for name, d := range drivers.Types() {
		bmcs[name] = d
	}
	return bmcs
}

// discovery says what becomes of unknown machines.
func (c Config) discovery(dialled calls) engine.Discovery {
	return engine.Discovery{Driver: c.Discovery, Limit: c.DiscoveryLimit, BMCUser: c.BMCCredentials == generateCredentials,
		Redfish: func(ctx context.Context, at netip.Addr) bool { return redfish.Answers(ctx, dialled.toBMCs, at) }}
}

// observe makes the engine with its listeners: readers of events, hosts, metrics, and traces where there are any.
func (w *work) observe(conf engine.Config, p parts) {
	w.calls = exchangelog.New(nil)
	if w.tracer != nil { // a nil pointer in an interface would not be nil
		w.calls = exchangelog.New(w.tracer)
	}
	conf.Traces = w.calls
	w.engine = engine.New(conf)
	w.engine.Listen(w.events)
	w.engine.ListenLast(p.hosts.listener(w.hosts))
	w.engine.Follow(w.counters.Nodes)
	watched := metrics.Config{Pending: w.engine.PendingEffects, Sensors: w.engine, SensorSeries: w.conf.SensorSeries,
		Free: func() float64 { return freeRoom(w.conf.DataDir) }, Clock: w.engine.Now}
	if p.group == nil || *p.group == "" { // it is one for all groups
		watched.Audit = w.record.Size
	}
	if p.group == nil { // a member of a cluster says so whether it leads or not
		watched.Ready, watched.Streams = p.ready, p.streams.Counts
	}
	if w.tracer != nil {
		w.engine.Listen(w.tracer)
		w.engine.Follow(w.tracer)
		watched.Traces = w.tracer.Counts
	}
	w.counters.Watch(watched)
}

// start starts the engine and the boot service, until ctx ends.
func (w *work) start(ctx context.Context) *sync.WaitGroup {
	running := &sync.WaitGroup{}
	tracing, traced := context.WithCancel(context.WithoutCancel(ctx))
	running.Go(func() {
		defer traced()
		w.engine.Run(ctx)
	})
	running.Go(func() {
		nodecheck.Search(ctx, w.engine, cacert.Folder(w.conf.CAFolder), w.counters.Nodes.Read, w.log)
		w.counters.Nodes.AllRead()
	})
	running.Go(func() { watchDisk(ctx, w.conf.DataDir, w.log) })
	if w.first {
		for _, run := range w.told {
			running.Go(func() { run(ctx) })
		}
	}
	if w.first && w.conf.AuditKeep > 0 {
		running.Go(func() { w.record.Keep(ctx, w.conf.AuditKeep, w.log) })
	}
	if w.sights != nil {
		running.Go(func() { w.sights.Run(ctx) })
	}
	if w.images != nil && w.conf.ClusterKey == "" { // a member of a cluster does, whether it leads or not
		running.Go(func() {
			w.engine.AwaitResume(ctx) // a restored database may not know images that are there
			imagelibrary.Sweep(ctx, w.images.Bytes, w.images.Named)
		})
	}
	if w.tracer != nil {
		running.Go(func() { w.tracer.Run(tracing) }) // the engine outlives ctx by what it has under way
	}
	if w.scrapes != nil {
		running.Go(func() {
			if err := w.scrapes.run(ctx, w.log); err != nil {
				w.fail(err)
			}
		})
	}
	if w.boot != nil {
		running.Go(func() { w.fail(w.boot.Serve(ctx)) })
	}
	return running
}

// endConsoles waits until the clients of consoles have their close frames.
func (w *work) endConsoles(ctx context.Context, patience time.Duration) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := w.face.WaitConsoles(closing); err != nil {
		w.log.Info("clients of consoles cut off at the end", "err", err)
	}
}

// close ends what is left once the context of assemble has ended.
func (w *work) close() error {
	w.kept.Wait()
	w.images.Wait()
	w.face.EndAudit()
	return w.drivers.Close()
}
