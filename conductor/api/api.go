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
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/auth"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Options is what an API is made of.
type Options struct {
	Conductor Conductor
	Log       *slog.Logger
	// Auth identifies the sender of a request; nil: anybody may do anything.
	Auth Authenticator
	// Boot is the boot service beside this conductor; nil when there is none:
	// reservations are kept for the next start with one.
	Boot Boot
	// Logs has what machines logged; nil when none is kept.
	Logs Logs
	// Mounts are handlers by path prefix that are served beside the resources:
	// what agents call. They are open to strangers, and check for themselves.
	// Their errors end as the API's own do.
	Mounts map[string]Handler
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

// Handler answers a request, or says why not: a *nodeapi.Fault or
// *node.Refusal for the client, anything else for the log and a 500.
type Handler = func(w http.ResponseWriter, r *http.Request) error

// API answers requests. It is safe for concurrent use.
type API struct {
	conductor Conductor
	auth      Authenticator
	rules     auth.Rules
	boot      Boot
	logs      Logs
	readers   *auth.Streams // who reads logs
	stopping  context.Context
	log       *slog.Logger
	echo      *echo.Echo
	top       map[string]int // resources by the first word of their path
	nodes     *table[node.Node]
	ports     *table[node.Port]
	bios      *table[toldRow[node.BIOSSetting]]
	firmware  *table[toldRow[node.FirmwareComponent]]
	full      [nodeapi.MaxMinor + 1]selection // all fields of a node by minor version
	cache     *cache
	buffers   sync.Pool
	bodies    *bodies // of requests
	strangers *bodies // of what agents call, which anybody can
	answers   *bodies // that their readers have yet to take
	started   time.Time
	document  func() ([]byte, error) // of the API, made when it is first asked for
	origins   *http.CrossOriginProtection
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
		conductor: patient{o.Conductor, o.LockedInterval, o.Stopping.Done()}, auth: o.Auth, rules: rules, boot: o.Boot, logs: o.Logs, readers: auth.NewStreams(logShares()), stopping: o.Stopping, log: o.Log, echo: echo.New(),
		nodes: nodeTable(rules), ports: portTable(), bios: biosTable(), firmware: firmwareTable(),
		origins: http.NewCrossOriginProtection(),
		cache:   newCache(o.CacheBytes), bodies: newBodies(bodiesEach, bodiesAll), strangers: newStrangers(strangersEach, strangersAll), answers: newBodies(answersEach, answersAll), started: time.Now(),
	}
	a.buffers.New = func() any { b := make([]byte, 0, 4<<10); return &b }
	for minor := range a.full {
		a.full[minor] = a.nodes.full(minor)
	}
	a.top = resources()
	a.document = sync.OnceValues(func() ([]byte, error) { return json.Marshal(document(append(a.routes(), agentRows(o.Mounts)...))) })
	a.echo.HTTPErrorHandler = a.answerError
	for _, r := range a.routes() {
		a.echo.Add(r.method, r.path, answers(a.adapt(r)))
	}
	for prefix, h := range o.Mounts {
		a.mount(prefix, h)
	}
	return a
}

// routes is everything the API answers to.
func (a *API) routes() []route {
	var all []route
	for _, resource := range [][]route{
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

// ServeHTTP answers one request, whatever happens on the way.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := newRequestID()
	w.Header()[nodeapi.HeaderRequestID] = []string{id}
	defer a.recover(w, r, id)
	r.URL.Path, r.URL.RawPath = a.normalPath(r.URL.Path), ""
	modernURL(r.Method, r.URL)
	defer a.bodiesOf(r.URL.Path).bound(r)()
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusOK)
		return
	}
	if a.foreign(w, r) {
		return
	}
	a.echo.ServeHTTP(w, r)
}

// bodiesOf is what the body of a request to a path counts among.
func (a *API) bodiesOf(path string) *bodies {
	for _, prefix := range []string{agentapi.LookupPath, agentapi.HeartbeatPath, agentapi.ContinueInspectionPath, agentapi.AgentsPath} {
		if prefix = strings.TrimSuffix(prefix, "/"); path == prefix || strings.HasPrefix(path, prefix+"/") {
			return a.strangers
		}
	}
	return a.bodies
}

// mount serves a handler at a prefix and below.
func (a *API) mount(prefix string, h Handler) {
	prefix = strings.TrimSuffix(prefix, "/")
	for _, path := range []string{prefix, prefix + "/*"} {
		a.echo.Any(path, answers(func(c echo.Context) error { return h(c.Response(), c.Request()) }))
	}
}

// answers makes an error of a handler's silence, of which net/http makes an empty
// 200: a success that nobody has said.
func answers(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := h(c)
		if err == nil && !c.Response().Committed {
			return fmt.Errorf("%s %s: the handler has answered nothing: please report it", c.Request().Method, c.Path())
		}
		return err
	}
}

// The limits on a connection: who sends nothing, or slowly, is cut off.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 2 * time.Minute
	writeTimeout  = 3 * time.Minute
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

// NewServer makes the HTTP server for h with those limits, of which readTimeout is
// for requests without a body: one that has a body must come at a least rate.
// Requests end with ctx: it must outlast Shutdown, which lets those under way finish.
func NewServer(ctx context.Context, h http.Handler, log *slog.Logger) *http.Server {
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	connlimit.Track(srv)
	return srv
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
