package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/bmc/console"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Times of a console's WebSocket.
const (
	consolePing  = 30 * time.Second // between pings; a client that answers none within it is gone
	consoleWrite = 30 * time.Second // for one message
)

// socketResource is the serial consoles of nodes.
type socketResource struct {
	access
	consoles *console.Consoles // nil: the conductor has none
	viewers  *auth.Streams
	stopping context.Context //nolint:containedctx // ends all consoles
	origins  []string        // of Options.PublicURL
}

func (h *socketResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: nodeapi.FerriteRoot + "/nodes/:node/console",
			Doc:    "the serial console, as a WebSocket of the subprotocol " + nodeapi.ConsoleProtocol,
			Handle: h.view,
			Wire: rest.Wire{Status: http.StatusSwitchingProtocols, Query: rest.ArgumentsNamed([]string{"write", "take"}),
				Gives: rest.Schema{"type": "string"}, Media: "application/octet-stream"}},
	}
}

// view is one client at a console.
func (h *socketResource) view(c *rest.Call) error {
	write, take, err := consoleQuery(c)
	if err != nil {
		return err
	}
	n, err := h.node(c)
	if err != nil {
		return err
	}
	if h.consoles == nil {
		return nodeapi.NewFault(http.StatusNotFound, "This conductor has no consoles.")
	}
	if !strings.EqualFold(c.Request().Header.Get("Upgrade"), "websocket") {
		c.Response().Header().Set("Upgrade", "websocket")
		return nodeapi.NewFault(http.StatusUpgradeRequired,
			"A console is a WebSocket with the subprotocol %s: use ferrite node console %s", nodeapi.ConsoleProtocol, n.UUID)
	}
	if h.Downgraded(c.Request()) {
		return nodeapi.NewFault(http.StatusForbidden, "A console is not opened for a page that was loaded without TLS.")
	}
	ctx, end, err := h.viewers.Open(context.WithoutCancel(c.Request().Context()), c.Response(), c.Request(), c.Caller,
		func(context.Context) error {
			_, err := h.node(c)
			return err
		})
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.stopping, cancel)()
	// Accept refuses pages of other sites: Origin must be this host, or the public one.
	socket, err := websocket.Accept(c.Response(), c.Request(),
		&websocket.AcceptOptions{Subprotocols: []string{nodeapi.ConsoleProtocol}, OriginPatterns: h.origins})
	if err != nil {
		h.Log.Info("console refused", "node", n.UUID, "err", err)
		return nil //nolint:nilerr // Accept has answered
	}
	defer func() { _ = socket.CloseNow() }()
	if socket.Subprotocol() != nodeapi.ConsoleProtocol {
		return socket.Close(websocket.StatusPolicyViolation, "the subprotocol must be "+nodeapi.ConsoleProtocol)
	}
	socket.SetReadLimit(nodeapi.ConsoleMessageLimit)
	viewer := h.consoles.Attach(n.UUID, consoleUser(c.Caller), write, take)
	defer viewer.Close()
	h.Log.Info("console opened", "node", n.UUID, "user", consoleUser(c.Caller), "take", take)
	serveConsole(ctx, cancel, h.stopping, socket, viewer)
	return nil
}

func consoleUser(c *auth.Caller) string {
	if c == nil {
		return "somebody"
	}
	return c.User
}

func consoleQuery(c *rest.Call) (write, take bool, err error) {
	write = true
	for key, values := range c.QueryParams() {
		var to *bool
		switch key {
		case "write":
			to = &write
		case "take":
			to = &take
		default:
			return false, false, rest.BadRequest("unexpected argument %s: expected write or take", key)
		}
		if values[0] != "true" && values[0] != "false" {
			return false, false, rest.BadRequest("%s must be true or false", key)
		}
		*to = values[0] == "true"
	}
	if take && !write {
		return false, false, rest.BadRequest("take=true is for writing: leave out write=false")
	}
	return write, take, nil
}

// serveConsole moves messages until one side ends. A client is to connect again when the conductor stops, and not when
// its right has ended: the close frames differ.
func serveConsole(ctx context.Context, cancel func(), stopping context.Context, socket *websocket.Conn,
	v *console.Viewer) {
	// Reading with a context that ends would cut the connection before a close frame gives the reason.
	reading, stopReading := context.WithCancel(context.WithoutCancel(ctx))
	defer stopReading()
	go func() {
		defer cancel()
		for {
			kind, data, err := socket.Read(reading)
			if err != nil {
				return
			}
			if kind != websocket.MessageBinary {
				continue // none are defined yet
			}
			if err := v.Write(ctx, data); err != nil && !errors.Is(err, console.ErrReader) {
				return
			}
		}
	}()
	go func() {
		defer cancel()
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(consolePing):
			}
			alive, done := context.WithTimeout(context.WithoutCancel(ctx), consolePing)
			err := socket.Ping(alive)
			done()
			if err != nil {
				return
			}
		}
	}()
	for {
		data, notices, err := v.Next(ctx)
		switch {
		case stopping.Err() != nil: // the console may have ended for it already
			_ = socket.Close(websocket.StatusGoingAway, "the conductor is stopping")
			return
		case auth.Revoked(ctx):
			_ = socket.Close(websocket.StatusPolicyViolation, "the right to this console has ended")
			return
		case auth.GaveWay(ctx) != nil:
			_ = socket.Close(websocket.StatusTryAgainLater, closeText(auth.GaveWay(ctx).Error()))
			return
		case ctx.Err() != nil: // the client has gone
			_ = socket.Close(websocket.StatusNormalClosure, "")
			return
		}
		if err != nil { // the reason may be longer than a close frame takes
			_ = sendEvent(ctx, socket, nodeapi.ConsoleEvent{Error: nodeapi.Printable(err.Error())})
			_ = socket.Close(websocket.StatusNormalClosure, "the console has ended")
			return
		}
		for _, n := range notices {
			if err := sendEvent(ctx, socket, nodeapi.ConsoleEvent{Role: string(n.Role), Holder: n.Holder,
				Text: nodeapi.Printable(n.Text)}); err != nil {
				return
			}
		}
		if len(data) > 0 && send(ctx, socket, websocket.MessageBinary, data) != nil {
			return
		}
	}
}

// closeText is the beginning of a text that a close frame has room for (RFC 6455, 5.5).
func closeText(text string) string { return strings.ToValidUTF8(text[:min(len(text), 123)], "") }

func sendEvent(ctx context.Context, socket *websocket.Conn, e nodeapi.ConsoleEvent) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return send(ctx, socket, websocket.MessageText, text)
}

// send writes one message. A write ended by its context cuts the connection before a close frame gives the reason. So
// only a time limit ends it.
func send(ctx context.Context, socket *websocket.Conn, kind websocket.MessageType, data []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), consoleWrite)
	defer cancel()
	return socket.Write(ctx, kind, data)
}
