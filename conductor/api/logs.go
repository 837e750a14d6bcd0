package api

import (
	"context"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Limits on reading logs: how long one piece may take to be read before the
// reader is taken for gone, and how long a log is followed by one request.
const (
	readerPatience = 30 * time.Second
	followTime     = 30 * time.Minute
)

// logResource is the logs of machines.
type logResource struct {
	access
	logs     Logs
	readers  *auth.Streams
	stopping context.Context //nolint:containedctx // ends all streams
}

func (h *logResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: nodeapi.FerriteRoot + "/nodes/:node/logs",
			Doc: "the log of a machine's kernel and agent, as text; follow=true continues", Handle: h.readLog,
			Wire: rest.Wire{Status: http.StatusOK, Query: rest.ArgumentsNamed([]string{"boot", "tail", "follow"}),
				Gives: rest.Schema{"type": "string"}, Media: "text/plain"}},
	}
}

// readLog answers with text until it ends or the client goes away.
func (h *logResource) readLog(c *rest.Call) error {
	q, err := nodeapi.ParseLogQuery(c.QueryParams())
	if err != nil {
		return rest.BadRequest("%v", err)
	}
	n, err := h.node(c)
	if err != nil {
		return err
	}
	if h.logs == nil {
		return nodeapi.NewFault(http.StatusNotFound, "This conductor keeps no logs of machines.")
	}
	open, cancel := context.WithTimeout(c.Request().Context(), followTime)
	defer cancel()
	ctx, end, err := h.readers.Open(open, c.Response(), c.Request(), c.Caller, func(context.Context) error {
		_, err := h.node(c)
		return err
	})
	if err != nil {
		return err
	}
	defer end()
	out, err := newLiveAnswer(c, "text/plain; charset=utf-8")
	if err != nil {
		return err
	}
	if q.Follow && q.Boot == 0 { // there will be an answer, perhaps not for a while
		if err := out.emit(nil); err != nil {
			return err
		}
	}
	defer context.AfterFunc(h.stopping, cancel)()
	err = h.logs.Stream(ctx, n.UUID, q, out.emit)
	if err != nil && (ctx.Err() == nil || !c.Response().Committed) {
		return err
	}
	out.ends(ctx) // at its end the text so far is whole: readers follow on by another request
	return nil
}
