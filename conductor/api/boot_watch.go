package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// bootWatchResource streams the requests on the boot network.
type bootWatchResource struct {
	access
	boot     BootWatch
	readers  *auth.Streams
	stopping context.Context //nolint:containedctx // ends all streams
}

func (h *bootWatchResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: nodeapi.FerriteRoot + "/boot/watch",
			Doc:    "requests on the boot network, and why one is not answered: one object a line; follow=true continues",
			Handle: h.watch,
			Wire: rest.Wire{Status: http.StatusOK,
				Query: rest.ArgumentsNamed([]string{"since", "after", "mac", "node", "follow"}),
				Gives: rest.FormOf(nodeapi.BootLine{}), Media: nodeapi.MediaLines}},
	}
}

// watch answers with events until they end or the client goes away.
func (h *bootWatchResource) watch(c *rest.Call) error {
	q, err := nodeapi.ParseBootQuery(c.QueryParams())
	if err != nil {
		return rest.BadRequest("%v", err)
	}
	if h.boot == nil {
		return nodeapi.NewFault(http.StatusNotFound,
			"This conductor serves no boot network: start it with --boot to watch one.")
	}
	if q.Node != "" {
		n, err := h.conductor.Node(c.Request().Context(), q.Node)
		if err != nil {
			return err
		}
		q.Node = n.UUID
	}
	open, cancel := context.WithTimeout(c.Request().Context(), followTime)
	defer cancel()
	ctx, end, err := h.readers.Open(open, c.Response(), c.Request(), c.Caller, nil)
	if err != nil {
		return err
	}
	defer end()
	defer context.AfterFunc(h.stopping, cancel)()
	out, err := newLiveAnswer(c, nodeapi.MediaLines)
	if err != nil {
		return err
	}
	err = h.boot.Stream(ctx, q, func(lines []nodeapi.BootLine) error {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		for _, l := range lines {
			if err := enc.Encode(l); err != nil {
				return err
			}
		}
		return out.emit(b.Bytes())
	})
	if err != nil && (ctx.Err() == nil || !c.Response().Committed) {
		return err
	}
	out.ends(ctx) // at its end the text so far is whole: readers follow on by another request
	return nil
}
