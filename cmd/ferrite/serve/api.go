package serve

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/agents/bootlog"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/audit"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/bmc/console"
	"github.com/ferrite-metal/ferrite/conductor/bmc/exchangelog"
	"github.com/ferrite-metal/ferrite/conductor/boot/bootpolicy"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/events"
	docevents "github.com/ferrite-metal/ferrite/conductor/extras/hosts/events"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/kube"
	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/imports"
	"github.com/ferrite-metal/ferrite/conductor/extras/signals/traces"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/server/metrics"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// listen opens the port of the API.
func (c Config) listen(log *slog.Logger) (net.Listener, error) {
	listener, err := connlimit.Listen(c.APIAddress, maxConnections, maxEach, c.proxies, log)
	if err != nil {
		return nil, fmt.Errorf("api: %w; is another conductor running? choose another --api-address", err)
	}
	return listener, nil
}

// api is what is served: for operators, for kubectl, and for ramdisks.
func (c Config) api(stopping context.Context, limits *api.ProjectLimits, ready func() error,
	eng *engine.Engine, images api.Images,
	documents *objects.Keeper, owners api.Hosts,
	eventLog *docevents.Log, changed *events.Log, record *audit.Recorder, logs *bootlog.Keeper,
	consoles *console.Consoles, boot *bootserver.Server,
	counters *metrics.Metrics, tracer *traces.Tracer, called *exchangelog.Log, leaders api.Leaders,
	streams *connlimit.Streams, who *auth.Authenticator, log *slog.Logger) *api.API {
	ramdisks := agents.NewServer(agents.Options{Conductor: eng, Logs: logs, HeartbeatTimeout: c.HeartbeatTimeout,
		BIOSBootloader: c.BIOSBootloader, CallbackPath: c.AgentPath})
	hosts := kube.Options{Keeper: documents, Events: eventLog, Log: log, Stopping: stopping, Ready: ready,
		Streams: streams, Now: eng.Now}
	options := api.Options{Conductor: eng, Leaders: leaders, Hosts: owners, Logs: logs, Consoles: consoles, Log: log,
		Limits: limits, Imports: imports.New(eng.Core),
		Images: images, Stopping: stopping, Calls: called, Events: changed, Streams: streams, Now: eng.Now,
		Mounts: ramdisks.Handlers(), Answered: counters.Answered, PublicURL: c.PublicURL}
	if members, several := leaders.(api.Members); several {
		options.Members = members
	}
	if record != nil {
		options.Audit = record
	}
	if tracer != nil {
		options.Follow = tracer.Follow
	}
	if c.Metrics == "" {
		options.Metrics = counters
	}
	if boot != nil { // a nil pointer in an interface would not be nil
		options.Boot = boot
		options.BootWatch = &bootpolicy.Watch{Log: boot.Watch(), Engine: eng}
	}
	if who != nil {
		options.Auth, options.Sessions, options.Users, hosts.Auth = who, who, who, who
	}
	var served *api.API // which has the room of all answers
	hosts.Room = func(r *http.Request) kube.Room { return served.Room(r) }
	maps.Copy(options.Mounts, kube.New(hosts).Handlers())
	served = api.New(options)
	return served
}
