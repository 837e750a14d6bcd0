// Package agents is the agent's side of a conductor: it answers the calls of a ramdisk (lookup, heartbeat, inspection
// data, progress, log), and it commands the agent in one.
//
// It translates between the wire and the engine; it decides nothing and writes no node. Anybody can call these
// endpoints, so they reveal nothing to strangers.
package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/tlspolicy"
	"github.com/ferrite-metal/ferrite/conductor/server/ratelimit"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Conductor is the part of the engine that the server needs. A fault of the client is a *node.Refusal.
type Conductor interface {
	Node(ctx context.Context, ref string) (node.Node, error)
	// Find finds the node of a ramdisk at from that is too old for more.
	Find(ctx context.Context, macs []string, uuid string, from netip.Addr) (node.Node, error)
	// Lookup finds the node of a ramdisk; the token is in clear once per boot.
	Lookup(ctx context.Context, macs []string, uuid string, c node.Caller) (agentapi.LookupNode, string, error)
	Heartbeat(ctx context.Context, uuid string, hb agentapi.Heartbeat) error
	// ContinueInspection accepts the inspection data of a ramdisk.
	ContinueInspection(ctx context.Context, uuid string, data agentapi.Inspection, raw []byte,
		c node.Caller) (node.Node, error)
	// Discover accepts the inspection data of a machine without a waiting node; NotFound when discovery is off. The
	// request is nil unless the agent is to make a user of its BMC.
	Discover(ctx context.Context, data agentapi.Inspection, raw []byte,
		from netip.Addr) (node.Node, *agentapi.BMCUserRequest, error)
	// TakeBMCUser accepts an agent's answer to such a request.
	TakeBMCUser(ctx context.Context, uuid string, u agentapi.BMCUser, from netip.Addr) error
	Progress(ctx context.Context, uuid string, p agentapi.Progress) error
	// CheckToken refuses a token that is not the one of this node's boot.
	CheckToken(ctx context.Context, uuid, token string) error
}

// Logs keeps the logs of machines. boot names the boot: 16 hexadecimal digits.
type Logs interface {
	Append(node, boot string, first int64, lines []string) error
}

// Options are the options of a Server.
type Options struct {
	Conductor Conductor
	// Logs keeps the logs of agents; nil: agents are not asked for logs.
	Logs Logs
	// HeartbeatTimeout is how long an agent may be silent; 300 s when 0.
	HeartbeatTimeout time.Duration
	// BIOSBootloader lets agents run the grub-install of partition images.
	BIOSBootloader bool
	// ImageFormats are the formats of images that agents may write; raw and qcow2 when nil.
	ImageFormats []string
	// Containers are the rules for containers of ironic-python-agent.
	Containers Containers
	// TLS is the policy of ironic-python-agent's own connections, as server and as client.
	TLS tlspolicy.Policy
	// CallbackPath takes callback URLs with a path.
	CallbackPath bool
	// FailureRate is how many calls a second one address may get wrong before
	// it is turned away, FailureBurst how many at once; 20 and 100 when 0.
	FailureRate, FailureBurst float64
	// LogRate is how many bytes a second one node may log in the long run,
	// LogBurst how many at once; 128 KiB and 4 MiB when 0.
	LogRate, LogBurst float64
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// Server answers the calls of a ramdisk: lookup, heartbeat, inspection data, progress, log. Any host may call these, so
// a caller with too many failures is refused for a while. A caller without failures is never refused for that reason.
type Server struct {
	conductor Conductor
	heartbeat time.Duration

	biosBootloader bool
	imageFormats   []string
	containers     Containers
	tls            tlspolicy.Policy
	callbackPath   bool

	share    *connlimit.Share // of the server's requests
	failures *ratelimit.Limiter[netip.Addr]
	unknown  *ratelimit.Limiter[netip.Addr] // inspections of unknown machines, by caller
	decoding chan struct{}                  // a place for each inspection that is taken in at a time
	logs     Logs
	logged   *ratelimit.Limiter[string] // bytes, by node

	unpacking chan struct{} // a place for each log that is unpacked at a time
}

// MostRequests bounds the concurrent requests of agents and of other hosts on the agents' paths. Other clients so find
// room among the connections to the API. maxEach bounds the requests of one address, which may be a router with a rack
// behind it.
const (
	MostRequests = 384
	maxEach      = 64
)

// maxDecoding bounds the inspections taken in at a time: each is up to 16 MiB of
// JSON from anybody, several times that once it is decoded, and a thousand
// addresses to look up.
const maxDecoding = 4

// maxUnpacking bounds the logs unpacked at a time, each up to 1 MiB and its lines.
const maxUnpacking = 8

// An address may send the inspection of an unknown machine this often in the long
// run, and so often at once: a machine does it once each boot, and a relay that
// hides some behind its own address is patient.
const (
	unknownRate  = 1.0 / 60
	unknownBurst = 10
)

// NewServer makes a Server.
func NewServer(o Options) *Server {
	if o.HeartbeatTimeout == 0 {
		o.HeartbeatTimeout = 300 * time.Second
	}
	if o.ImageFormats == nil {
		o.ImageFormats = []string{"raw", "qcow2"}
	}
	if o.FailureRate == 0 {
		o.FailureRate = 20
	}
	if o.FailureBurst == 0 {
		o.FailureBurst = 100
	}
	if o.LogRate == 0 {
		o.LogRate = 128 << 10
	}
	if o.LogBurst == 0 {
		o.LogBurst = 4 << 20
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Server{
		conductor: o.Conductor, heartbeat: o.HeartbeatTimeout, biosBootloader: o.BIOSBootloader, callbackPath: o.CallbackPath,
		imageFormats: o.ImageFormats,
		containers:   o.Containers,
		tls:          o.TLS,
		share:        connlimit.NewShare(MostRequests, maxEach),
		failures:     ratelimit.New[netip.Addr](o.FailureRate, o.FailureBurst, o.Now),
		decoding:     make(chan struct{}, maxDecoding),
		unpacking:    make(chan struct{}, maxUnpacking),
		unknown:      ratelimit.New[netip.Addr](unknownRate, unknownBurst, o.Now),
		logs:         o.Logs, logged: ratelimit.New[string](o.LogRate, o.LogBurst, o.Now),
	}
}

// Handler answers one request, or says why not: a *nodeapi.Fault or a
// *node.Refusal for the client, anything else is ours.
type Handler = func(w http.ResponseWriter, r *http.Request) error

// Handlers is every path the server answers to, with all below it.
func (s *Server) Handlers() map[string]Handler {
	return map[string]Handler{
		agentapi.LookupPath:             s.limited(http.MethodGet, s.lookup),
		agentapi.HeartbeatPath:          s.limited(http.MethodPost, s.beat),
		agentapi.ContinueInspectionPath: s.limited(http.MethodPost, s.continueInspection),
		agentapi.AgentsPath:             s.limited(http.MethodPost, s.report),
	}
}

// limited refuses a caller with too many recent failures. ironic-python-agent tries again after a 503; after a 4xx it
// may give up.
func (s *Server) limited(method string, h Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.Method != method {
			return nodeapi.Routing(http.StatusMethodNotAllowed, "")
		}
		from := clientaddr.Of(r)
		if !s.failures.Allowed(from, 1) {
			w.Header().Set("Retry-After", "5")
			return nodeapi.NewFault(http.StatusServiceUnavailable,
				"Too many failed calls from %s; try again in a few seconds", from)
		}
		r, leave := s.share.Enter(r, from)
		if r == nil {
			w.Header().Set("Retry-After", "5")
			return nodeapi.NewFault(http.StatusServiceUnavailable, "Too many agents are calling; try again in a few seconds")
		}
		defer leave()
		err := checkURL(r)
		if err == nil {
			err = h(w, r)
		}
		if blames(err) {
			s.failures.Count(from, 1)
		}
		return err
	}
}

// checkURL refuses control characters in the path and the query.
func checkURL(r *http.Request) error {
	if err := nodeapi.CheckURL(r.URL); err != nil {
		return badRequest("Malformed request URI: %v", err)
	}
	return nil
}

// report handles an agent's unasked reports.
func (s *Server) report(w http.ResponseWriter, r *http.Request) error {
	rest := below(r, agentapi.AgentsPath)
	if uuid, ok := strings.CutSuffix(rest, agentapi.LogSuffix); ok && s.logs != nil && isUUID(uuid) {
		return s.log(w, r, strings.ToLower(uuid))
	}
	if uuid, ok := strings.CutSuffix(rest, agentapi.BMCUserSuffix); ok && isUUID(uuid) {
		return s.bmcUser(w, r, strings.ToLower(uuid))
	}
	if uuid := strings.TrimSuffix(rest, agentapi.ProgressSuffix); isUUID(uuid) { // the last word may be left out
		return s.progress(w, r, strings.ToLower(uuid))
	}
	return nodeapi.Routing(http.StatusNotFound, "")
}

// blames reports whether an error is the caller's doing. A locked node, a machine with much
// to report, or a fault of ours, is not.
func blames(err error) bool {
	var fault *nodeapi.Fault
	var refusal *node.Refusal
	switch {
	case errors.As(err, &fault):
		return fault.Status < http.StatusInternalServerError && fault.Status != http.StatusTooManyRequests
	case errors.As(err, &refusal):
		return refusal.Kind == node.Invalid || refusal.Kind == node.NotFound
	}
	return false
}

// begin negotiates the microversion; below since the path does not exist.
func begin(w http.ResponseWriter, r *http.Request, since int) (int, error) {
	minor, err := nodeapi.Begin(w, r)
	if err == nil && minor < since {
		err = notFound()
	}
	return minor, err
}

// notFound is the one answer for objects that do not exist, are unknown, or are in the wrong state: it reveals nothing
// to a stranger.
func notFound() error {
	return nodeapi.NewFault(http.StatusNotFound, "Resource could not be found.")
}

func noNode(ref string) error {
	return nodeapi.NewFault(http.StatusNotFound, "Node %s could not be found.", ref)
}

func badRequest(format string, args ...any) error {
	return nodeapi.NewFault(http.StatusBadRequest, format, args...)
}

// below is the rest of the path under a prefix.
func below(r *http.Request, prefix string) string {
	return strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, strings.TrimSuffix(prefix, "/")), "/")
}

func isUUID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

// answer writes a JSON reply.
func answer(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a %T: %w", v, err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		return fmt.Errorf("answer an agent: %w", err)
	}
	return nil
}
