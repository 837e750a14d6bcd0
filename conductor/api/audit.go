package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/server/ratelimit"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Audit keeps entries; see audit.Recorder.
type Audit interface {
	Record(e nodeapi.AuditEntry) error
	// Refused counts a refused request; the first of its kind in a minute has its entry at once.
	Refused(of node.RefusedRequest, e nodeapi.AuditEntry, lost func(nodeapi.AuditEntry, error)) error
	// Prune deletes the entries before a time; see audit.Recorder.
	Prune(ctx context.Context, before time.Time, who string) (nodeapi.AuditPruned, error)
	// Before is the time before which all entries have an age for sure, wherever the clock was set.
	Before(ctx context.Context, age time.Duration) (time.Time, error)
	// Pruned are the ends of the deleted chains.
	Pruned(ctx context.Context) ([]nodeapi.AuditLink, error)
	// Close writes the entries of requests that were only counted.
	Close(lost func(nodeapi.AuditEntry, error))
	Entries(ctx context.Context, nodeUUID string, after int64, limit int) ([]node.AuditEntry, error)
}

// The entries of one user: bytes at once, and bytes a second after that.
const (
	entriesBurst = 128 << 20
	entriesRate  = 4 << 10
)

// auditor makes entries of requests.
type auditor struct {
	log   *slog.Logger
	audit Audit
	users *ratelimit.Limiter[string] // bytes of entries
}

func newAuditor(a Audit, log *slog.Logger) *auditor {
	return &auditor{log: log, audit: a, users: ratelimit.New[string](entriesRate, entriesBurst, time.Now)}
}

type trailKey struct{}

// Begin has a trail follow a request.
func (a *auditor) Begin(ctx context.Context) context.Context {
	ctx, trail := engine.WithTrail(ctx)
	return context.WithValue(ctx, trailKey{}, trail)
}

// Admit refuses requests of a user with too many entries in a short time, since a change needs an entry.
func (a *auditor) Admit(c *auth.Caller) error {
	if c == nil || a.users.Allowed(userKey(c), 1) {
		return nil
	}
	return nodeapi.NewFault(http.StatusTooManyRequests, "User %s has changed so much that the audit takes no more: "+
		"%d MiB at once and %d KiB a second; send fewer requests", c.User, entriesBurst>>20, entriesRate>>10)
}

func userKey(c *auth.Caller) string { return c.User + "\x00" + c.Project }

// Asked writes an entry, before the client has its answer. Refused requests share entries.
func (a *auditor) Asked(ctx context.Context, asked rest.Asked) {
	e := nodeapi.AuditEntry{Method: asked.Method, Path: nodeapi.MaskText(asked.Path), From: asked.From.String(),
		Status: asked.Status, Request: asked.Request, Account: asked.Who.Account}
	if c := asked.Who.Caller; c != nil {
		e.User, e.Project = c.User, c.Project
	}
	if trail, ok := ctx.Value(trailKey{}).(*engine.Trail); ok {
		e.Node, e.Name, e.Changes = trail.Changes()
	}
	size := e.Bound()
	var err error
	// Above 499 something may have been done: each has an entry of its own.
	if asked.Status >= http.StatusBadRequest && asked.Status < rest.StatusAborted && len(e.Changes) == 0 {
		err = a.audit.Refused(refusedOf(asked), e, a.lost)
	} else {
		if c := asked.Who.Caller; c != nil {
			a.users.Count(userKey(c), float64(size))
		}
		err = a.audit.Record(e)
	}
	if err != nil {
		a.lost(e, err)
	}
}

// refusedOf is the kind of a refused request. Failed logins of an account that exists are their own: no flood of other
// strangers hides them.
func refusedOf(asked rest.Asked) node.RefusedRequest {
	of := node.RefusedRequest{Kind: fmt.Sprint(asked.Method, " ", asked.Route, " ", asked.Status)}
	network := connlimit.Network(asked.From).String()
	switch who := asked.Who; {
	case who.Caller != nil:
		of.Sender = "user " + userKey(who.Caller)
	case who.Known:
		of.Sender, of.Kind = "account "+who.Account, network+" "+of.Kind
	default:
		of.Sender, of.Stranger, of.Kind = network, true, who.Account+" "+of.Kind
	}
	return of
}

// lost logs an entry that could not be written.
func (a *auditor) lost(e nodeapi.AuditEntry, err error) {
	a.log.Error("a request is not in the audit", "method", e.Method, "path", e.Path, "user", e.User, "from", e.From,
		"status", e.Status, "request", e.Request, "err", err)
}

// auditResource is the audit.
type auditResource struct {
	access
	audit Audit
}

// auditBatch is how many entries, of 20 kB at most, are in memory at a time.
const auditBatch = 100

func (h *auditResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: nodeapi.FerriteRoot + "/audit",
			Doc: "requests and their users, one entry a line, oldest first: at most 1,000, and 8 MiB, after the id that after " +
				"names; the last page is empty; node=UUID chooses the entries of a node", Handle: h.list,
			Wire: rest.Wire{Status: http.StatusOK, Query: rest.ArgumentsNamed([]string{"after", "node"}),
				Gives: rest.FormOf(nodeapi.AuditLine{}), Media: nodeapi.MediaLines}},
		{Method: http.MethodGet, Path: nodeapi.FerriteRoot + "/audit/pruned",
			Doc:    "the last entry of each conductor that was deleted from the audit: its chain continues after it",
			Handle: h.pruned, Wire: rest.Returns(rest.FormOf(nodeapi.AuditPruned{}))},
		{Method: http.MethodPost, Path: nodeapi.FerriteRoot + "/audit/pruned",
			Doc: "delete the entries before a time, which is 30 days ago or more; the newest one of each conductor before it " +
				"stays, and a new entry names the deleted ones",
			Handle: h.prune, Wire: rest.Wire{Status: http.StatusOK,
				Takes: rest.FormOf(struct {
					Before string `json:"before"`
				}{}), Gives: rest.FormOf(nodeapi.AuditPruned{})}},
	}
}

func (h *auditResource) pruned(c *rest.Call) error {
	if h.audit == nil {
		return noAudit()
	}
	ends, err := h.audit.Pruned(c.Request().Context())
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, nodeapi.AuditPruned{Pruned: ends})
}

func (h *auditResource) prune(c *rest.Call) error {
	body, err := c.Object("time")
	switch {
	case err != nil:
		return err
	case h.audit == nil:
		return noAudit()
	}
	if err := rest.Unexpected(rest.SortedKeys(body), []string{"before"}); err != nil {
		return err
	}
	text, err := rest.Args(body).Need("before")
	if err != nil {
		return err
	}
	before, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return rest.BadRequest("before is %.40q: expected a time as 2026-01-31T00:00:00Z", text)
	}
	latest, err := h.audit.Before(c.Request().Context(), nodeapi.AuditLeastKept)
	if err != nil {
		return err
	}
	if before.After(latest) {
		return rest.BadRequest("before is %s: entries are kept for 30 days at least; expected a time before %s",
			before.UTC().Format(time.RFC3339), latest.UTC().Format(time.RFC3339))
	}
	who := ""
	if c.Caller != nil {
		who = c.Caller.User
	}
	done, err := h.audit.Prune(c.Request().Context(), before, who)
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, done)
}

func noAudit() error { return nodeapi.NewFault(http.StatusNotFound, "This conductor keeps no audit.") }

func (h *auditResource) list(c *rest.Call) error {
	if h.audit == nil {
		return noAudit()
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
	return rest.AnswerLines(h.Server, c, h.entries(c.Request().Context(), strings.ToLower(of), after),
		func(dst []byte, e *node.AuditEntry) []byte {
			return rest.AppendAny(dst, nodeapi.AuditLine{ID: e.ID, Chain: e.Chain, Number: e.Number, Hash: e.Hash, Entry: e.Doc})
		})
}

// entries reads the entries after an id, of a node if one is named.
func (h *auditResource) entries(ctx context.Context, of string, after int64) rest.Items[node.AuditEntry] {
	return func(yield func(*node.AuditEntry, error) bool) {
		for more := true; more; {
			found, err := h.audit.Entries(ctx, of, after, auditBatch)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range found {
				if after = found[i].ID; !yield(&found[i], nil) {
					return
				}
			}
			more = len(found) == auditBatch
		}
	}
}
