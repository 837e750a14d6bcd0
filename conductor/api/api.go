// Package api is Ironic's REST API for operators, microversions 1.1 to 1.115,
// over the engine; and beside it, under /ferrite/v1, what that API has no word
// for. One file per resource, each with its rows of the route table.
//
// It translates and nothing else: it decides nothing, writes no node itself,
// and knows neither drivers nor the store. What the agent calls (lookup,
// heartbeat, inspection data) is package agents, mounted here.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/auth"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Options is what an API is made of.
type Options struct {
	Conductor Conductor
	Log       *slog.Logger
	// Auth identifies the sender of a request; nil: anybody may do anything.
	Auth rest.Authenticator
	// Boot is the boot service beside this conductor; nil when there is none:
	// reservations are kept for the next start with one.
	Boot Boot
	// Logs has what machines logged; nil when none is kept.
	Logs Logs
	// Mounts are handlers by path prefix that are served beside the resources:
	// what agents call. They are open to strangers, and check for themselves.
	// Their errors end as the API's own do.
	Mounts map[string]rest.Handler
	// LockedInterval is between two tries at a node that is locked; a second, as in
	// Ironic, when 0.
	LockedInterval time.Duration
	// Stopping ends when the conductor begins to stop: the waiting for locked nodes
	// ends with it, and answers without an end of their own, such as a followed
	// log. Never when nil.
	Stopping context.Context
	// CacheBytes bounds the rendered answers that are kept; 8 MiB when 0.
	CacheBytes int
}

// API answers requests. It is safe for concurrent use.
type API struct {
	*rest.Server
	conductor Conductor
	auth      rest.Authenticator
	boot      Boot
	logs      Logs
	readers   *auth.Streams // who reads logs
	stopping  context.Context
	top       map[string]int // resources by the first word of their path
	nodes     *rest.Table[node.Node]
	ports     *rest.Table[node.Port]
	bios      *rest.Table[toldRow[node.BIOSSetting]]
	firmware  *rest.Table[toldRow[node.FirmwareComponent]]
	full      [nodeapi.MaxMinor + 1]rest.Selection // all fields of a node by minor version
	cache     *rest.Cache
	started   time.Time
}

// New makes an API.
func New(o Options) *API {
	if o.CacheBytes == 0 {
		o.CacheBytes = 8 << 20
	}
	if o.LockedInterval == 0 {
		o.LockedInterval = lockedInterval
	}
	if o.Boot == nil {
		o.Boot = noBoot{}
	}
	if o.Stopping == nil {
		o.Stopping = context.Background()
	}
	rules := auth.NewRules()
	a := &API{
		conductor: patient{o.Conductor, o.LockedInterval, o.Stopping.Done()}, auth: o.Auth, boot: o.Boot, logs: o.Logs,
		readers: auth.NewStreams(logShares()), stopping: o.Stopping, top: resources(),
		nodes: nodeTable(rules), ports: portTable(), bios: biosTable(), firmware: firmwareTable(),
		cache: rest.NewCache(o.CacheBytes), started: time.Now(),
	}
	a.Server = rest.NewServer(rest.Options{
		Log: o.Log, Auth: o.Auth, Rules: rules, Fault: faultOf, Known: a.known, Rewrite: a.rewrite, Stranger: stranger,
		Identified: func(ctx context.Context, caller *auth.Caller) context.Context {
			return engine.WithUser(ctx, caller.User, caller.Project)
		},
	})
	for minor := range a.full {
		a.full[minor] = a.nodes.Full(minor)
	}
	a.Handle(a.routes(), agentRows(o.Mounts)...)
	for prefix, h := range o.Mounts {
		a.Mount(prefix, h)
	}
	return a
}

// routes is everything the API answers to.
func (a *API) routes() []rest.Route {
	var all []rest.Route
	for _, resource := range [][]rest.Route{
		a.rootRoutes(),
		a.nodeRoutes(),
		a.stateRoutes(),
		a.firmwareModeRoutes(),
		a.consoleRoutes(),
		a.managementRoutes(),
		a.indicatorRoutes(),
		a.vendorRoutes(),
		a.recordRoutes(),
		a.biosRoutes(),
		a.firmwareRoutes(),
		a.raidRoutes(),
		a.vmediaRoutes(),
		a.portRoutes(),
		a.portgroupRoutes(),
		a.vifRoutes(),
		a.chassisRoutes(),
		a.subcollectionRoutes(),
		a.volumeRoutes(),
		a.traitRoutes(),
		a.templateRoutes(),
		a.runbookRoutes(),
		a.allocationRoutes(),
		a.inspectionRuleRoutes(),
		a.driverRoutes(),
		a.conductorRoutes(),
		a.shardRoutes(),
		a.eventRoutes(),
		a.ferriteRoutes(),
		a.rootDeviceRoutes(),
		a.eraseReportRoutes(),
		a.logRoutes(),
		a.leaseRoutes(),
	} {
		all = append(all, resource...)
	}
	return all
}

// normalPath strips a trailing slash and puts the /v1 that older clients leave
// out in front.
func (a *API) normalPath(path string) string {
	path = strings.TrimRight(path, "/")
	if path == "" {
		return "/"
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if _, ok := a.top[first]; ok {
		return nodeapi.Root + path
	}
	return path
}

// rewrite turns the paths of Ironic's first releases into those in use.
func (a *API) rewrite(r *http.Request) {
	r.URL.Path, r.URL.RawPath = a.normalPath(r.URL.Path), ""
	modernURL(r.Method, r.URL)
}

// stranger reports whether a path is one that agents call, which anybody can.
func stranger(path string) bool {
	for _, prefix := range []string{agentapi.LookupPath, agentapi.HeartbeatPath, agentapi.ContinueInspectionPath, agentapi.AgentsPath} {
		if prefix = strings.TrimSuffix(prefix, "/"); path == prefix || strings.HasPrefix(path, prefix+"/") {
			return true
		}
	}
	return false
}

// known answers 404 for a node or port in the path that the caller may not know of.
func (a *API) known(c *rest.Call) error {
	if c.Param("node") != "" {
		if _, err := a.node(c); err != nil {
			return err
		}
	}
	if c.Param("port") != "" {
		if _, err := a.port(c); err != nil {
			return err
		}
	}
	return nil
}

// Handler answers a request, as rest.Handler.
type Handler = rest.Handler
