// Package api is Ironic's REST API for operators, microversions 1.1 to 1.115, over the engine; and beside it, under
// /ferrite/v1, what that API has no word for. One file per resource, each with its rows of the route table.
//
// It translates and nothing else: it decides nothing, writes no node itself, and knows neither drivers nor the store.
// Package agents, mounted here, answers agents (lookup, heartbeat, inspection data).
package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/bmc/console"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Options configure an API.
type Options struct {
	Conductor Conductor
	Log       *slog.Logger
	// Auth identifies the sender of a request; nil: anybody may do anything.
	Auth rest.Authenticator
	// Policy replaces rules of the policy; nil for none.
	Policy *auth.PolicyFile
	// Boot is the boot service beside this conductor; nil when there is none:
	// reservations are kept for the next start with one.
	Boot Boot
	// Sessions keeps the logins of browsers; nil without Auth.
	Sessions Sessions
	// Users lists the users in the conductor's files; nil without Auth.
	Users Users
	// Calls remembers requests to machines; nil when none are remembered.
	Calls Calls
	// BootWatch streams the requests on the boot network; nil when none is served.
	BootWatch BootWatch
	// Leaders finds the conductor that leads the nodes of a group; nil: this conductor has them all.
	Leaders Leaders
	// Members are the conductors of a cluster; nil: this conductor is alone.
	Members Members
	// Hosts has the documents that nodes are made of; nil when there are none.
	Hosts Hosts
	// Logs has the logs of machines; nil when none are kept.
	Logs Logs
	// Consoles are the serial consoles of machines; nil when there are none.
	Consoles *console.Consoles
	// Images are the images that operators have named; nil when none are kept.
	Images Images
	// Imports takes over nodes of other programs; nil where imports are not built in.
	Imports Imports
	// Audit keeps record of requests; nil for none.
	Audit Audit
	// Limits bound the records of a project; nil for no limit.
	Limits *ProjectLimits
	// Events lets callers follow changes; nil when none are kept.
	Events Events
	// Metrics answers scrapes of Prometheus; nil when they are not served here.
	Metrics http.Handler
	// Answered receives every request: see rest.Options.
	Answered func(method, route string, status int, took time.Duration)
	// Follow attributes the work for a request to the request: see rest.Options.
	Follow func(r *http.Request, id string) (followed *http.Request, end func(route string, status int))
	// Mounts are handlers by path prefix that are served beside the resources: the agents' endpoints. They are open to
	// strangers, and check for themselves. Their errors end as the API's own do.
	Mounts map[string]rest.Handler
	// LockedInterval is between two tries at a node that is locked; a second, as in
	// Ironic, when 0.
	LockedInterval time.Duration
	// Stopping ends when the conductor begins to stop: the waiting for locked nodes
	// ends with it, and answers without an end of their own, such as a followed
	// log. Never when nil.
	Stopping context.Context
	// Streams is the pool of the places for answers without an end; nil for no bounds.
	Streams *connlimit.Streams
	// PublicURL is the URL by which clients reach the API: see rest.Options.
	PublicURL string
	// Now is the clock of leases; time.Now when nil.
	Now func() time.Time
	// PageBytes ends a page of a list: see rest.Options.
	PageBytes int
	// CacheBytes bounds the rendered answers that are kept; 8 MiB when 0.
	CacheBytes int
}

// API answers requests. It is safe for concurrent use.
type API struct {
	*rest.Server
	resources []resource
	top       map[string]int // resources by the first word of their path
	viewers   *auth.Streams  // of consoles
	auditing  *auditor       // nil for none
}

// resource is some rows of the route table.
type resource interface{ routes() []rest.Route }

// New makes an API.
func New(o Options) *API {
	if o.CacheBytes == 0 {
		o.CacheBytes = 8 << 20
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.LockedInterval == 0 {
		o.LockedInterval = lockedInterval
	}
	if o.Leaders == nil {
		o.Leaders = onlyLeader{o.Conductor}
	}
	if o.Members == nil {
		o.Members = alone{o.Conductor, time.Now()}
	}
	if o.Boot == nil {
		o.Boot = noBoot{}
	}
	if o.Hosts == nil {
		o.Hosts = noHosts{}
	}
	if o.Imports == nil {
		o.Imports = noImports{}
	}
	if o.Stopping == nil {
		o.Stopping = context.Background()
	}
	a := &API{top: resources(), viewers: auth.NewStreams("consoles", o.Auth, o.Streams)}
	at := access{conductor: o.Conductor, hosts: o.Hosts, policy: o.Policy}
	server := o.server(a.rewrite)
	server.Known, server.Retry = at.known, patience{o.LockedInterval, o.Stopping.Done()}.handle
	if o.Audit != nil {
		a.auditing = newAuditor(o.Audit, o.Log)
		server.Audit = a.auditing
	}
	at.Server = rest.NewServer(server)
	a.Server, a.resources = at.Server, newResources(o, at, a.viewers)
	a.Handle(a.routes(), agentRows(o.Mounts)...)
	for prefix, h := range o.Mounts {
		a.Mount(prefix, h)
	}
	return a
}

// server has the options that all servers of the API share: a conductor's, for its nodes, and a cluster member's.
func (o Options) server(rewrite func(*http.Request)) rest.Options {
	return rest.Options{
		Log: o.Log, Auth: o.Auth, Rules: auth.NewRules(o.Policy), Fault: faultOf, Admit: o.Limits.admit, Grow: o.Limits.grow,
		Rewrite: rewrite, Stranger: stranger, Streams: streams, Answered: o.Answered, Follow: o.Follow,
		PublicURL: o.PublicURL, PageBytes: o.PageBytes,
		Identified: func(ctx context.Context, caller *auth.Caller) context.Context {
			return engine.WithUser(ctx, caller.User, caller.Project)
		},
	}
}

// newResources is everything the API answers to, in the order of the document.
func newResources(o Options, at access, viewers *auth.Streams) []resource {
	nodes := newNodeResource(at, o.Leaders, o.CacheBytes)
	ports := &portResource{access: at, fields: portTable()}
	return []resource{
		&rootResource{at},
		nodes,
		&stateResource{access: at, nodes: nodes.fields},
		&firmwareModeResource{at},
		&consoleResource{at},
		&managementResource{at},
		&indicatorResource{at},
		&vendorResource{at},
		&recordResource{at},
		&biosResource{access: at, fields: biosTable()},
		&firmwareResource{access: at, fields: firmwareTable()},
		&raidResource{at},
		&mediaResource{at},
		ports,
		&portgroupResource{access: at, portsOf: ports},
		&vifResource{at},
		&chassisResource{access: at, nodesOf: nodes},
		&subcollectionResource{at},
		&volumeResource{at},
		&traitResource{at},
		&templateResource{at},
		&runbookResource{at},
		&allocationResource{at},
		&inspectionRuleResource{at},
		&driverResource{at},
		&conductorResource{access: at, members: o.Members},
		&shardResource{at},
		&eventResource{at},
		&statusResource{access: at, boot: o.BootWatch},
		&confirmResource{at},
		newTrialResource(at, nodes, o.Now),
		&rootDeviceResource{at},
		&stepResource{at},
		&sensorResource{at},
		&eraseReportResource{at},
		&logResource{access: at, logs: o.Logs, readers: auth.NewStreams("logs", o.Auth, o.Streams), stopping: o.Stopping},
		&socketResource{access: at, consoles: o.Consoles, viewers: viewers, stopping: o.Stopping,
			origins: rest.Origins(o.PublicURL)},
		&holdResource{o.Conductor},
		&importResource{access: at, nodes: nodes, imports: o.Imports},
		&sessionResource{at, o.Sessions},
		&userResource{at, o.Users},
		&callResource{at, o.Calls},
		&leaseResource{leases: o.Conductor, boot: o.Boot, now: o.Now},
		&bootWatchResource{access: at, boot: o.BootWatch, readers: auth.NewStreams("boot watches", o.Auth, o.Streams),
			stopping: o.Stopping},
		&eventStreamResource{access: at, events: o.Events, readers: auth.NewStreams("events", o.Auth, o.Streams),
			stopping: o.Stopping},
		&auditResource{access: at, audit: o.Audit},
		&imageResource{access: at, images: o.Images},
		&metricsResource{metrics: o.Metrics},
	}
}

// WaitConsoles returns when no client views a console any more, and each has its close frame. http.Server.Shutdown does
// not wait for WebSockets. If a context ends first, WaitConsoles returns its error.
func (a *API) WaitConsoles(ctx context.Context) error { return a.viewers.Wait(ctx) }

// EndAudit writes the entries of requests that the audit has only counted so far. Call it once no request is under way.
func (a *API) EndAudit() {
	if a.auditing != nil {
		a.auditing.audit.Close(a.auditing.lost)
	}
}

// routes is the route table.
func (a *API) routes() (all []rest.Route) {
	for _, r := range a.resources {
		all = append(all, r.routes()...)
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
	nodeapi.ModernURL(r.Method, r.URL)
}

// stranger reports whether a path is an agents' endpoint. Anybody can call these.
func stranger(path string) bool {
	for _, prefix := range []string{agentapi.LookupPath, agentapi.HeartbeatPath, agentapi.ContinueInspectionPath,
		agentapi.AgentsPath} {
		if prefix = strings.TrimSuffix(prefix, "/"); path == prefix || strings.HasPrefix(path, prefix+"/") {
			return true
		}
	}
	return false
}

// Handler answers a request, as rest.Handler.
type Handler = rest.Handler
