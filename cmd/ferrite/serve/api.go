package serve

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/boot/bootpolicy"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// listen opens the port of the API.
func (c Config) listen(log *slog.Logger) (net.Listener, error) {
	listener, err := connlimit.Listen(c.APIAddress, maxConnections, maxEach, c.proxies, log)
	if err != nil {
		return nil, fmt.Errorf("api: %w; is another conductor running? choose another --api-address", err)
	}
	return listener, nil
}

// makeAPI makes the API for operators, ramdisks and clients of extras. Its answers without an end end with ctx.
func (w *work) makeAPI(ctx context.Context, p parts) error {
	c, eng := w.conf, w.engine
	ramdisks := agents.NewServer(agents.Options{Conductor: eng, Logs: w.logs, HeartbeatTimeout: c.FastTrackTimeout,
		BIOSBootloader: c.BIOSBootloader, ImageFormats: c.ImageFormats, CallbackPath: c.AgentPath, Containers: c.Containers,
		TLS: w.dialled.toAgents.TLS})
	options := api.Options{Conductor: eng, Leaders: p.leaders, Logs: w.logs, Consoles: w.consoles(ctx), Log: w.log,
		Limits: c.limits(p.db), Images: w.images, Audit: w.record, Stopping: ctx, Calls: w.calls, Events: w.events,
		Streams: p.streams, Now: eng.Now, Mounts: ramdisks.Handlers(), Answered: w.counters.Answered, PublicURL: c.PublicURL}
	if members, several := p.leaders.(api.Members); several {
		options.Members = members
	}
	if c.Metrics == "" {
		options.Metrics = w.counters
	}
	if w.boot != nil { // a nil pointer in an interface would not be nil
		options.Boot = w.boot
		options.BootWatch = &bootpolicy.Watch{Log: w.boot.Watch(), Engine: eng}
	}
	if p.who != nil {
		options.Auth, options.Sessions, options.Users, options.Policy = p.who, p.who, p.who, p.who.Policy()
	}
	for _, complete := range w.served {
		complete(&options)
	}
	w.face = api.New(options)
	return nil
}
