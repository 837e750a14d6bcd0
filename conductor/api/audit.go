package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/ratelimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Audit keeps entries; see audit.Recorder.
type Audit interface {
	Record(e nodeapi.AuditEntry) error
	Entries(ctx context.Context, nodeUUID string, after int64, limit int) ([]node.AuditEntry, error)
}

// Refused requests of people whom nobody knows are entries at this rate; more are counted.
const (
	refusalRate  = 1 // a second
	refusalBurst = 60
)

// auditor makes entries of requests.
type auditor struct {
	*rest.Server
	audit    Audit
	refusals *ratelimit.Limiter[struct{}]

	mu      sync.Mutex
	omitted int
}

func newAuditor(a Audit) *auditor {
	return &auditor{audit: a, refusals: ratelimit.New[struct{}](refusalRate, refusalBurst, time.Now)}
}

type trailKey struct{}

// Begin has a trail follow a request.
func (a *auditor) Begin(ctx context.Context) context.Context {
	ctx, trail := engine.WithTrail(ctx)
	return context.WithValue(ctx, trailKey{}, trail)
}

// Asked writes an entry, before the client has its answer.
func (a *auditor) Asked(ctx context.Context, asked rest.Asked) {
	e := nodeapi.AuditEntry{Method: asked.Method, Path: nodeapi.MaskText(asked.Path), From: asked.From,
		Status:  asked.Status,
		Request: asked.Request, Account: asked.Who.Account}
	if c := asked.Who.Caller; c != nil {
		e.User, e.Project = c.User, c.Project
	}
	refused := asked.Status == http.StatusUnauthorized || asked.Status == http.StatusTooManyRequests
	a.mu.Lock()
	if refused && asked.Who.Caller == nil && !a.refusals.Take(struct{}{}, 1) {
		a.omitted++
		a.mu.Unlock()
		return
	}
	e.Omitted, a.omitted = a.omitted, 0
	a.mu.Unlock()
	if trail, ok := ctx.Value(trailKey{}).(*engine.Trail); ok {
		e.Node, e.Name, e.Changes = trail.Changes()
	}
	if err := a.audit.Record(e); err != nil {
		a.Log.Error("a request is not in the audit", "method", e.Method, "path", e.Path, "user", e.User, "from", e.From,
			"status", e.Status, "request", e.Request, "err", err)
	}
}

// auditResource is the audit.
type auditResource struct {
	access
	audit Audit
}

// auditPage bounds the entries of one answer.
const auditPage = 1000

func (h *auditResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: nodeapi.FerriteRoot + "/audit",
			Doc: "who asked for what, one entry a line, oldest first: at most 1,000 after the id that after names; node=UUID " +
				"chooses those of a node", Handle: h.list,
			Wire: rest.Wire{Status: http.StatusOK, Query: rest.ArgumentsNamed([]string{"after", "node"}),
				Gives: rest.FormOf(nodeapi.AuditLine{}), Media: nodeapi.MediaLines}},
	}
}

func (h *auditResource) list(c *rest.Call) error {
	if h.audit == nil {
		return nodeapi.NewFault(http.StatusNotFound, "This conductor keeps no audit.")
	}
	after := int64(0)
	for key, values := range c.QueryParams() {
		var err error
		switch {
		case key == "after" && len(values) == 1:
			after, err = strconv.ParseInt(values[0], 10, 64)
		case key == "node" && len(values) == 1:
		default:
			return rest.BadRequest("there is no argument %.40q: expected after or node, once", key)
		}
		if err != nil || after < 0 {
			return rest.BadRequest("after is %.40q: expected the id of an entry", values[0])
		}
	}
	of := c.QueryParam("node")
	if of != "" && !rest.ValidUUID(of) {
		n, err := h.nodeOf(c, of)
		if err != nil {
			return err
		}
		of = n
	}
	found, err := h.audit.Entries(c.Request().Context(), strings.ToLower(of), after, auditPage)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, e := range found {
		if err := enc.Encode(nodeapi.AuditLine{ID: e.ID, Chain: e.Chain, Number: e.Number, Hash: e.Hash,
			Entry: e.Doc}); err != nil {
			return err
		}
	}
	return c.Blob(http.StatusOK, nodeapi.MediaLines, b.Bytes())
}
