package api

import (
	"context"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Limits on reading logs: how many read at a time, and how long one piece may
// take to be read before the reader is taken for gone.
const (
	maxReaders     = 64
	readerPatience = 30 * time.Second
)

func (a *API) logRoutes() []route {
	return []route{
		{method: http.MethodGet, path: nodeapi.FerriteRoot + "/nodes/:node/logs", doc: "what kernel and agent of a machine logged, as text; follow=true goes on", handle: a.readLog,
			wire: wire{status: http.StatusOK, query: argumentsNamed([]string{"boot", "tail", "follow"}), gives: schema{"type": "string"}, media: "text/plain"}},
	}
}

// readLog answers with text, for as long as there is some and somebody reads.
func (a *API) readLog(c *call) error {
	q, err := nodeapi.ParseLogQuery(c.QueryParams())
	if err != nil {
		return badRequest("%v", err)
	}
	n, err := a.node(c)
	if err != nil {
		return err
	}
	if a.logs == nil {
		return nodeapi.NewFault(http.StatusNotFound, "This conductor keeps no logs of machines.")
	}
	select {
	case a.readers <- struct{}{}:
		defer func() { <-a.readers }()
	default:
		return nodeapi.NewFault(http.StatusServiceUnavailable, "Already %d clients read logs; try again when one of them has left", maxReaders)
	}
	// The server's limits on a whole request are not for one that lasts; each
	// piece has its own.
	control := http.NewResponseController(c.Response())
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	begin := func() {
		if !c.Response().Committed {
			c.Response().Header().Set("Content-Type", "text/plain; charset=utf-8")
			c.Response().Header().Set("X-Content-Type-Options", "nosniff") // what machines say is no page
			c.Response().WriteHeader(http.StatusOK)
		}
	}
	emit := func(piece []byte) error {
		if err := control.SetWriteDeadline(time.Now().Add(readerPatience)); err != nil {
			return err
		}
		begin()
		if _, err := c.Response().Write(piece); err != nil {
			return err
		}
		return control.Flush()
	}
	if q.Follow && q.Boot == 0 { // there will be an answer, perhaps not for a while
		if err := emit(nil); err != nil {
			return err
		}
	}
	ctx, end := context.WithCancel(c.Request().Context())
	defer end()
	defer context.AfterFunc(a.stopping, end)()
	err = a.logs.Stream(ctx, n.UUID, q, emit)
	if err != nil && (a.stopping.Err() == nil || !c.Response().Committed) {
		return err
	}
	begin() // at a stop the text so far is whole: readers go on after the restart
	return nil
}
