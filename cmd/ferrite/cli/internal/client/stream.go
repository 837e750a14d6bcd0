package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/coder/websocket"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Stream sends a request and copies the answer to w for as long as it lasts.
func (c *client) Stream(ctx context.Context, path string, w io.Writer) error {
	body, err := c.Open(ctx, Request{Method: http.MethodGet, Path: path, Accept: "*/*"})
	if err != nil {
		return err
	}
	defer body.Close()
	if _, err := io.Copy(w, body); err != nil {
		return fmt.Errorf("GET %s: the answer ended early: %w", path, err)
	}
	return nil
}

// Open sends a request with a stream for an answer. The caller closes the stream.
func (c *client) Open(ctx context.Context, r Request) (io.ReadCloser, error) {
	req, err := c.made(ctx, r)
	if err != nil {
		return nil, err
	}
	return c.lasting(req, r)
}

// patient is the client without a limit for the whole of a request.
func (c *client) patient() *http.Client {
	patient := *c.http
	patient.Timeout = 0
	return &patient
}

// lasting sends a request that takes as long as it takes. The caller closes the answer.
func (c *client) lasting(req *http.Request, r Request) (io.ReadCloser, error) {
	resp, err := c.patient().Do(req)
	if err != nil {
		return nil, c.unreachable(req.Context(), err)
	}
	if resp.StatusCode < http.StatusBadRequest {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return nil, fmt.Errorf("%s %s: the answer ended early: %w", r.Method, r.Path, err)
	}
	fault := c.fault(resp.StatusCode, reply)
	if other, ok := ofHost(r, fault); ok && r.Method == http.MethodGet {
		if body, err := c.Open(req.Context(), other); !NotFound(err) {
			return body, err
		}
	}
	asNamed(r, fault)
	return nil, fault
}

// Socket opens a WebSocket with a subprotocol; the caller closes it.
func (c *client) Socket(ctx context.Context, path, protocol string) (*websocket.Conn, error) {
	req, err := c.made(ctx, Request{Method: http.MethodGet, Path: path, Accept: "*/*"})
	if err != nil {
		return nil, err
	}
	socket, resp, err := websocket.Dial( //nolint:bodyclose // Dial has closed it
		ctx, c.Base+path,
		&websocket.DialOptions{HTTPClient: c.patient(), HTTPHeader: req.Header, Subprotocols: []string{protocol}})
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
	fault := c.fault(resp.StatusCode, reply)
	if other, ok := ofHost(Request{Path: path}, fault); ok {
		if socket, err := c.Socket(ctx, other.Path, protocol); !NotFound(err) {
			return socket, err
		}
	}
	return nil, fault
}

// Upload sends size bytes as a body, -1 for as many as there are, and decodes the answer into out. A server that
// refuses before it reads is heard at once.
func (c *client) Upload(ctx context.Context, path string, body io.Reader, size int64, out any) error {
	r := Request{Method: http.MethodPut, Path: path, Form: nodeapi.MediaBytes}
	req, err := c.made(ctx, r)
	if err != nil {
		return err
	}
	req.Body, req.GetBody, req.ContentLength = io.NopCloser(body), nil, size
	req.Header.Set("Content-Type", nodeapi.MediaBytes)
	req.Header.Set("Expect", "100-continue")
	answer, err := c.lasting(req, r)
	if err != nil {
		return err
	}
	defer answer.Close()
	reply, err := io.ReadAll(io.LimitReader(answer, maxReply))
	if err != nil {
		return &lostError{fmt.Errorf("PUT %s: the answer ended early: %w", path, err)}
	}
	if err := json.Unmarshal(reply, out); err != nil {
		return fmt.Errorf("PUT %s: the answer is not a conductor's; is %s the right URL? %w", path, c.Base, err)
	}
	return nil
}
