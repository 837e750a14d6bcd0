package client

import (
	"context"
	"io"
	"net/http"

	"github.com/coder/websocket"
)

// Socket opens a WebSocket with a subprotocol; the caller closes it.
func (c *client) Socket(ctx context.Context, path, protocol string) (*websocket.Conn, error) {
	req, err := c.made(ctx, Request{Method: http.MethodGet, Path: path, Accept: "*/*"})
	if err != nil {
		return nil, err
	}
	lasting := *c.http
	lasting.Timeout = 0
	socket, resp, err := websocket.Dial( //nolint:bodyclose // Dial has closed it
		ctx, c.Base+path,
		&websocket.DialOptions{HTTPClient: &lasting, HTTPHeader: req.Header, Subprotocols: []string{protocol}})
	switch {
	case err == nil:
		return socket, nil
	case resp == nil || resp.StatusCode < http.StatusBadRequest:
		return nil, c.unreachable(ctx, err)
	}
	reply, err := io.ReadAll(io.LimitReader(resp.Body, maxReply)) // Dial has kept its beginning
	if err != nil {
		return nil, err
	}
	return nil, c.fault(resp.StatusCode, reply)
}
