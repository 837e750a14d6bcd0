// Package kube serves hosts' documents over HTTP as a Kubernetes API server with the resources of Metal3 does, for
// kubectl and other clients of its protocol. One file per verb.
//
// It translates and nothing else: documents are kept by objects, checked by hostapi, and acted on by their followers.
package kube

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Authenticator identifies the sender of a request, or answers a *nodeapi.Fault and sets the
// headers that go with it.
type Authenticator interface {
	Authenticate(w http.ResponseWriter, r *http.Request) (*auth.Caller, error)
}

// Memory is an answer's share of memory.
type Memory interface {
	// Resize takes n bytes instead of those that were taken before. It may wait, and answers a *nodeapi.Fault when there
	// is no room.
	Resize(n int64) error
	End() // gives them back
	// Write answers with text; a slow reader may lose its connection.
	Write(w http.ResponseWriter, text []byte) (int, error)
}

// Options are a Server's dependencies and limits.
type Options struct {
	Keeper *objects.Keeper
	// Auth identifies the sender of a request; nil: every caller may do everything.
	Auth Authenticator
	Log  *slog.Logger
	// Events is where those are; nil for none.
	Events Events
	// Stopping ends when the conductor begins to stop, and watches with it. Never
	// when nil.
	Stopping context.Context
	// Streams is the pool of the places for answers without an end; nil for no bounds.
	Streams *connlimit.Streams
	// Now is time.Now when nil.
	Now func() time.Time
	// Memory is room for the answer to a request; no answer has a bound when nil.
	Memory func(r *http.Request) Memory
	// Ready is why requests cannot be served at the moment; always can when nil.
	Ready func() error
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	keeper   *objects.Keeper
	auth     Authenticator
	log      *slog.Logger
	kept     Events
	now      func() time.Time
	stopping context.Context
	watches  *auth.Streams
	lines    *lines
	ready    func() error
	memory   func(r *http.Request) Memory
	schema   func() (openAPI, error) // made when it is first asked for
}

// New makes a server.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Events == nil {
		o.Events = noEvents{}
	}
	if o.Ready == nil {
		o.Ready = func() error { return nil }
	}
	if o.Stopping == nil {
		o.Stopping = context.Background()
	}
	return &Server{keeper: o.Keeper, stopping: o.Stopping, watches: auth.NewStreams("watches", o.Auth, o.Streams),
		auth: o.Auth, log: o.Log, kept: o.Events, now: o.Now, lines: newLines(), ready: o.Ready,
		memory: o.Memory,
		schema: sync.OnceValues(newOpenAPI)}
}

// Handlers are the parts of the API by path prefix. Their errors have been
// answered already.
func (s *Server) Handlers() map[string]func(http.ResponseWriter, *http.Request) error {
	all := map[string]func(http.ResponseWriter, *http.Request) error{}
	for _, prefix := range []string{"/api", "/apis", "/openapi", "/version", "/healthz", "/livez", "/readyz"} {
		all[prefix] = s.handle
	}
	return all
}

// maxBody bounds a request's body, as Kubernetes does.
const maxBody = 3 << 20

// call is one request on its way through a handler.
type call struct {
	w http.ResponseWriter
	*http.Request
	query  map[string][]string
	caller *auth.Caller // nil without authentication
	memory Memory       // nil when answers have no bound

	// Parts of the path, in requests for documents.
	kind            hostapi.Kind
	namespace, name string
	sub             string // a subresource: "status"
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	c := &call{w: w, Request: r, query: r.URL.Query()}
	if s.memory != nil {
		c.memory = s.memory(r)
		defer c.memory.End()
	}
	if err := s.answer(c); err != nil {
		s.fail(c, err)
	}
	return nil
}

// reserve takes room for n bytes of the answer.
func (c *call) reserve(n int) error {
	if c.memory == nil {
		return nil
	}
	return c.memory.Resize(int64(n))
}

// write answers with text.
func (c *call) write(text []byte) (err error) {
	if c.memory == nil {
		_, err = c.w.Write(text)
	} else {
		_, err = c.memory.Write(c.w, text)
	}
	return err
}

// answer authenticates the caller and passes the request to its handler.
func (s *Server) answer(c *call) error {
	if err := checkRequest(c); err != nil {
		return err
	}
	path := strings.Split(strings.Trim(c.URL.Path, "/"), "/")
	if len(path) == 1 && path[0] != "api" && path[0] != "apis" {
		return s.public(c, path[0])
	}
	if s.auth != nil {
		caller, err := s.auth.Authenticate(c.w, c.Request)
		if err != nil {
			return err
		}
		c.caller = caller
	}
	switch {
	case path[0] == "openapi":
		return s.openapi(c, path[1:])
	case path[0] == "api" && len(path) > 2 && path[1] == hostapi.CoreVersion:
		return s.documents(c, "", path[2:])
	case path[0] == "apis" && len(path) > 3 && path[1] == hostapi.Group && path[2] == hostapi.Version:
		return s.documents(c, hostapi.Group, path[3:])
	}
	return s.discovery(c, path)
}

// public answers the paths that need no authentication.
func (s *Server) public(c *call, what string) error {
	switch what {
	case "version":
		return s.reply(c, http.StatusOK, version())
	case "healthz", "livez", "readyz":
		c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		text := "ok"
		var why error
		if what == "readyz" {
			c.w.Header().Set(nodeapi.HeaderClock, s.now().UTC().Format(time.RFC3339))
			why = s.ready()
		}
		if why != nil {
			c.w.WriteHeader(http.StatusServiceUnavailable)
			text = "the database cannot be reached; the conductor's log says why"
			if nodeapi.OutOfSpace(why) != nil {
				text = "the disk under the database is full: only requests that make room are served"
			}
		}
		_, err := c.w.Write([]byte(text))
		return err
	}
	return noPath()
}

// documents answers requests for documents: [namespaces/NAME/]PLURAL[/NAME[/SUB]].
func (s *Server) documents(c *call, group string, path []string) error {
	if path[0] == "namespaces" && len(path) > 2 {
		c.namespace, path = path[1], path[2:]
	}
	if group == "" && path[0] == eventKind.Plural {
		return s.events(c, path)
	}
	for _, k := range hostapi.Kinds() {
		if k.Group == group && k.Plural == path[0] {
			c.kind = k
		}
	}
	if c.kind.Kind == "" || len(path) > 3 || c.namespace != "" && !c.kind.Namespaced {
		return noPath()
	}
	if len(path) > 1 {
		c.name = path[1]
	}
	if len(path) > 2 {
		c.sub = path[2]
	}
	if c.sub != "" && (c.sub != "status" || !c.kind.Status) {
		return noPath()
	}
	if c.name != "" && c.namespace == "" && c.kind.Namespaced {
		return noPath()
	}
	return s.verb(c)
}

// verb is the handler for the request's method.
func (s *Server) verb(c *call) error {
	for _, v := range []struct {
		method string
		named  bool // a document, or all of a kind
		verb   string
		handle func(*call) error
	}{
		{http.MethodGet, true, "get", s.get},
		{http.MethodGet, false, "list", s.list},
		{http.MethodPost, false, "create", s.create},
		{http.MethodPut, true, "update", s.update},
		{http.MethodPatch, true, "patch", s.patch},
		{http.MethodDelete, true, "delete", s.delete},
		{http.MethodDelete, false, "deletecollection", s.deleteAll},
	} {
		if v.method != c.Method || v.named != (c.name != "") || c.sub != "" && (v.verb == "delete") {
			continue
		}
		if v.verb == "list" && c.yes("watch") {
			v.verb, v.handle = "watch", s.watch
		}
		if v.verb == "create" && c.namespace == "" && c.kind.Namespaced {
			continue
		}
		if err := permit(c, v.verb); err != nil {
			return err
		}
		if v.method != http.MethodGet { // an answer that cannot be given is refused before anything is done
			if _, err := c.accepted(); err != nil {
				return err
			}
		}
		return v.handle(c)
	}
	return noMethod()
}

// key is the document that the path names.
func (c *call) key() objects.Key {
	return objects.Key{Kind: c.kind.Kind, Namespace: c.namespace, Name: c.name}
}

// resource is the kind's name in errors: "baremetalhosts.metal3.io".
func (c *call) resource() string {
	if c.kind.Group == "" {
		return c.kind.Plural
	}
	return c.kind.Plural + "." + c.kind.Group
}

// arg is a parameter of the query.
func (c *call) arg(name string) string {
	if v := c.query[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (c *call) yes(name string) bool { return c.arg(name) == "true" || c.arg(name) == "1" }

// dry reports whether the request is only tried out.
func (c *call) dry() (bool, error) { return dryRun(c.query["dryRun"]) }

func dryRun(values []string) (bool, error) {
	for _, v := range values {
		if v != "All" {
			return false, badRequest("invalid dryRun %q: expected All", v)
		}
	}
	return len(values) > 0, nil
}

// get answers with one document.
func (s *Server) get(c *call) error {
	d, err := s.keeper.Get(c.Context(), c.key())
	if err != nil {
		return err
	}
	return s.one(c, http.StatusOK, d)
}
