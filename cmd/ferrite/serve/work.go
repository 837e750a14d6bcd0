package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/agents/bootlog"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/audit"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/nodecheck"
	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/bmc/exchangelog"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/cluster/handover"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/events"
	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagelibrary"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagesource"
	"github.com/ferrite-metal/ferrite/conductor/outbound/cacert"
	"github.com/ferrite-metal/ferrite/conductor/server/certificate"
	"github.com/ferrite-metal/ferrite/conductor/server/clock"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/server/metrics"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// parts are the parts of a conductor beside its settings.
type parts struct {
	db           Database
	keys         datafolder.Keys
	who          *auth.Authenticator      // nil: anybody may do anything
	cert         *certificate.Certificate // nil for plain HTTP
	agentsAt     net.Addr                 // where agents call
	images       *imagestore.Store        // the bytes of images
	peers        imagelibrary.Peers       // nil without a cluster
	ready        func() error             // why the database cannot be used; nil where it always can
	fail         context.CancelCauseFunc  // ends the conductor's work, for the reason given
	group        *string                  // the group of its nodes; nil for all nodes
	leaders      api.Leaders              // nil without a cluster
	streams      *connlimit.Streams       // of the process
	metrics      *metrics.Metrics         // of a term; nil for a conductor of its own
	bmcs         redfish.Sessions         // nil without a cluster
	logs         bootlog.Storage          // of a cluster; nil for files in the data folder
	observations *handover.Observations   // of a cluster; nil for observations that are lost with the process
	others       *otherGroups             // nil without a cluster
	check        func() error             // refuses to send anything to a BMC or an agent; nil where it always may
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
	conf  Config
	log   *slog.Logger
	now   func() time.Time
	fail  context.CancelCauseFunc
	first bool // of the default group, to which documents and events belong

	drivers      *bmc.Set
	dialled      calls
	logs         *bootlog.Keeper
	events       *events.Log
	images       *imagelibrary.Library
	sources      *imagesource.Sources // of all images
	record       *audit.Recorder
	calls        *exchangelog.Log
	counters     *metrics.Metrics
	observations *handover.Observations // nil without a cluster
	engine       *engine.Engine
	scrapes      *metricsServer     // nil without --metrics-address
	boot         *bootserver.Server // nil without --boot
	face         *api.API
	between      http.Handler   // the calls of other leaders; nil without a cluster
	kept         sync.WaitGroup // ends with the context of assemble

	joined
}

// assemble wires the conductor of the nodes in a store, and takes them up where the last conductor left them. ctx ends
// its work; close ends the rest.
func (c Config) assemble(ctx context.Context, p parts, log *slog.Logger) (_ *work, err error) {
	w := &work{conf: c, log: log, now: clock.New(log).Now, fail: p.fail, counters: p.counters(),
		observations: p.observations, first: p.group == nil || *p.group == ""}
	if err := w.openDrivers(p); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.drivers.Close(), w.scrapes.close())
		}
	}()
	// Each room needs the rooms before it. Extras join before the engine, which reads their entries.
	for _, open := range []func(context.Context, parts) error{
		w.openLogs, w.openEvents, w.openExtras, w.findImages, w.openAudit, w.makeEngine, w.takeUp, w.openMetrics, w.openBoot,
		w.beginRest, w.makeAPI,
	} {
		if err := open(ctx, p); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// openAudit opens the record of this conductor's requests.
func (w *work) openAudit(ctx context.Context, p parts) (err error) {
	w.record, err = audit.Open(ctx, p.db, p.recorder(w.conf.ConductorName), w.now)
	return err
}

// beginRest begins all that goes on beside requests and waits for the nodes to be taken up.
func (w *work) beginRest(ctx context.Context, p parts) error {
	if w.first {
		w.dropReports(ctx, p.db)
	}
	for _, begin := range w.takenUp {
		begin()
	}
	return nil
}

// dropReports deletes the erase reports of nodes that are long gone.
func (w *work) dropReports(ctx context.Context, db Database) {
	w.kept.Go(func() {
		w.engine.AwaitResume(ctx)
		n, err := db.DropOldEraseReports(ctx, w.now().Add(-store.OrphanReportsKept))
		if err != nil && ctx.Err() == nil {
			w.log.Error("old erase reports stay until the next start", "err", err)
		} else if n > 0 {
			w.log.Info("erase reports of nodes that are gone deleted", "count", n, "older_than", store.OrphanReportsKept)
		}
	})
}

// start starts the engine and the boot service, until ctx ends.
func (w *work) start(ctx context.Context) *sync.WaitGroup {
	running := &sync.WaitGroup{}
	lasting, ended := context.WithCancel(context.WithoutCancel(ctx))
	running.Go(func() {
		defer ended()
		w.engine.Run(ctx)
	})
	running.Go(func() {
		nodecheck.Search(ctx, w.engine, cacert.Folder(w.conf.CAFolder), w.counters.Nodes.Read, w.log)
		w.counters.Nodes.AllRead()
	})
	running.Go(func() { watchDisk(ctx, w.conf.DataDir, w.log) })
	if w.first {
		running.Go(func() { w.events.Run(ctx) })
		for _, r := range w.readers {
			running.Go(func() { r.run(ctx) })
		}
	}
	if w.first && w.conf.AuditKeep > 0 {
		running.Go(func() { w.record.Keep(ctx, w.conf.AuditKeep, w.log) })
	}
	if w.observations != nil {
		running.Go(func() { w.observations.Run(ctx) })
	}
	if w.images != nil && w.conf.ClusterKey == "" { // a member of a cluster does, whether it leads or not
		running.Go(func() {
			w.engine.AwaitResume(ctx) // a restored database may not know images that are there
			imagelibrary.Sweep(ctx, w.images.Bytes, w.images.Named)
		})
	}
	for _, run := range w.lasting {
		running.Go(func() { run(lasting) }) // the engine outlives ctx until its running work is done
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

// close ends the parts that outlive the context of assemble.
func (w *work) close() error {
	w.kept.Wait()
	w.images.Wait()
	w.face.EndAudit()
	return w.drivers.Close()
}
