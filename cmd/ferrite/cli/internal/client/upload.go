package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Upload sends size bytes as a body, -1 for as many as there are, and decodes the answer into out. It takes as long as
// it takes. A server that refuses before it reads is heard at once.
func (c *client) Upload(ctx context.Context, path string, body io.Reader, size int64, out any) error {
	req, err := c.made(ctx, Request{Method: http.MethodPut, Path: path, Form: nodeapi.MediaBytes})
	if err != nil {
		return err
	}
	req.Body, req.GetBody, req.ContentLength = io.NopCloser(body), nil, size
	req.Header.Set("Content-Type", nodeapi.MediaBytes)
	req.Header.Set("Expect", "100-continue")
	lasting := *c.http
	lasting.Timeout = 0 // of the whole request
	resp, err := lasting.Do(req)
	if err != nil {
		return c.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	switch {
	case err != nil:
		return &lostError{fmt.Errorf("PUT %s: the answer ended early: %w", path, err)}
	case resp.StatusCode >= http.StatusBadRequest:
		return c.fault(resp.StatusCode, reply)
	}
	if err := json.Unmarshal(reply, out); err != nil {
		return fmt.Errorf("PUT %s: the answer is not that of a conductor; is %s the right URL? %w", path, c.Base, err)
	}
	return nil
}
