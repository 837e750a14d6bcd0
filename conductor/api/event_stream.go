package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine/events"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Events lets callers follow changes; see events.Log.
type Events interface {
	Follow(ctx context.Context, q events.Query, emit func([]events.Event) error) error
}

// eventStreamResource is the changes as they are committed.
type eventStreamResource struct {
	access
	events   Events
	readers  *auth.Streams
	stopping context.Context //nolint:containedctx // ends all streams
}

// The times of a stream.
const (
	longestWait = time.Minute
	defaultWait = 25 * time.Second
	keepAlive   = 15 * time.Second
)

func (h *eventStreamResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: nodeapi.FerriteRoot + "/events",
			Doc: "changes as they are committed, each once, in that order: one object a line, or server-sent events for " +
				"Accept: text/event-stream; after=CURSOR continues, after=0 begins with the oldest kept; " +
				"follow=true never ends",
			Handle: h.stream,
			Wire: rest.Wire{Status: http.StatusOK,
				Query: rest.ArgumentsNamed([]string{"after", "node", "type", "follow", "wait"}),
				Gives: rest.FormOf(nodeapi.Event{}), Media: nodeapi.MediaLines}},
	}
}

// stream answers with events until they end or the client goes away.
func (h *eventStreamResource) stream(c *rest.Call) error {
	sse := strings.Contains(c.Request().Header.Get("Accept"), nodeapi.MediaEvents)
	asked, err := nodeapi.ParseEventQuery(c.QueryParams())
	if err != nil {
		return rest.BadRequest("%v", err)
	}
	if id := c.Request().Header.Get("Last-Event-ID"); sse && id != "" {
		asked.After = id
	}
	if h.events == nil {
		return nodeapi.NewFault(http.StatusNotFound, "This conductor keeps no events.")
	}
	q := events.Query{After: asked.After, Wait: min(asked.Wait, longestWait)}
	if asked.Wait == 0 && !asked.NoWait {
		q.Wait = defaultWait
	}
	if sse || asked.Follow {
		q.Wait = -1
	}
	if asked.Node != "" {
		n, err := h.nodeOf(c, asked.Node)
		var fault *nodeapi.Fault
		if errors.As(err, &fault) && fault.Status == http.StatusNotFound && rest.ValidUUID(asked.Node) && c.Project() == "" {
			n, err = strings.ToLower(asked.Node), nil // it may be deleted, and have events
		}
		if err != nil {
			return err
		}
		asked.Node = n
	}
	q.See = visibleEvents(c, asked)
	open, cancel := context.WithTimeout(c.Request().Context(), followTime)
	defer cancel()
	ctx, end, err := h.readers.Open(open, c.Response(), c.Request(), c.Caller, nil)
	if err != nil {
		return err
	}
	defer end()
	defer context.AfterFunc(h.stopping, cancel)()
	media := nodeapi.MediaLines
	if sse {
		media = nodeapi.MediaEvents
	}
	out, err := newLiveAnswer(c, media)
	if err != nil {
		return err
	}
	return h.send(ctx, c, q, out, sse)
}

// send emits events until the query ends. A stream without events sends a sign of life now and then.
func (h *eventStreamResource) send(ctx context.Context, c *rest.Call, q events.Query, out *liveAnswer, sse bool) error {
	var turn sync.Mutex // held during a write
	emit := func(text []byte) error {
		turn.Lock()
		defer turn.Unlock()
		return out.emit(text)
	}
	alive, stop := context.WithCancel(ctx)
	beaten := make(chan struct{})
	begun := make(chan struct{})
	go func() {
		defer close(beaten)
		select {
		case <-begun:
		case <-alive.Done():
			return
		}
		tick := time.NewTicker(keepAlive)
		defer tick.Stop()
		for sse {
			select {
			case <-alive.Done():
				return
			case <-tick.C:
				if emit([]byte(": alive\n\n")) != nil {
					return
				}
			}
		}
	}()
	defer func() { stop(); <-beaten }()
	err := h.events.Follow(ctx, q, func(found []events.Event) error {
		if found == nil {
			defer close(begun)
			return emit(nil)
		}
		return emit(written(found, sse))
	})
	if way := auth.GaveWay(ctx); way != nil && c.Response().Committed {
		return emit(written([]events.Event{lastEvent(way)}, sse))
	}
	if err == nil || ctx.Err() != nil && c.Response().Committed {
		out.begin()
		return nil // the text so far is whole: readers follow on by another request
	}
	return cursorFault(err)
}

// lastEvent gives the reason why a stream ends before its time. It has no cursor: readers go on after the event before
// it.
func lastEvent(why error) events.Event {
	e := events.Event{Type: nodeapi.EventStreamEnded}
	e.Line, _ = json.Marshal(nodeapi.Event{Type: e.Type, At: time.Now().UTC().Format(time.RFC3339Nano),
		Notes: []nodeapi.EventNote{{Severity: "WARNING", Text: why.Error()}}}) // strings always encode
	return e
}

// cursorFault is the answer for a cursor that nothing follows.
func cursorFault(err error) error {
	var bad *events.CursorError
	switch {
	case errors.As(err, &bad) && bad.Gone:
		return nodeapi.NewFault(http.StatusGone, "%s.", bad.Text)
	case bad != nil:
		return nodeapi.NewFault(http.StatusBadRequest, "%s.", bad.Text)
	}
	return err
}

// written is events as they go over the wire.
func written(found []events.Event, sse bool) []byte {
	var b bytes.Buffer
	for _, e := range found {
		if !sse {
			b.Write(e.Line)
			b.WriteByte('\n')
			continue
		}
		if e.Cursor != "" {
			b.WriteString("id: " + e.Cursor + "\n")
		}
		b.WriteString("event: " + e.Type + "\ndata: ")
		b.Write(e.Line)
		b.WriteString("\n\n")
	}
	return b.Bytes()
}

// visibleEvents chooses the requested events that a caller may see. A project sees events of the nodes that it owns or
// leases.
func visibleEvents(c *rest.Call, asked nodeapi.EventQuery) func(*events.Event) (shown, asLessee bool) {
	project := c.Project()
	return func(e *events.Event) (shown, asLessee bool) {
		if asked.Node != "" && e.Node != asked.Node || !asked.Wants(e.Type) {
			return false, false
		}
		if project == "" {
			return true, false
		}
		return e.Owner == project || e.Lessee == project, e.Owner != project
	}
}
