package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// client talks to one conductor, in the newest microversion both know.
type client struct {
	Base  string // without /v1
	agent string
	http  *http.Client
	login *login
	Minor atomic.Int64 // goes down once, when the server turns out to be older
}

func newClient(base, release string, timeout time.Duration, l *login) (*client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("--url %q: expected http://HOST:PORT or https://HOST:PORT", base)
	}
	transport, err := l.transport()
	if err != nil {
		return nil, err
	}
	c := &client{
		Base:  strings.TrimSuffix(strings.TrimRight(base, "/"), nodeapi.Root),
		agent: "ferrite/" + release,
		http:  &http.Client{Timeout: timeout, Transport: transport, CheckRedirect: stay},
		login: l,
	}
	c.Minor.Store(nodeapi.MaxMinor)
	return c, nil
}

// stay refuses redirects: the token would go along.
func stay(r *http.Request, _ []*http.Request) error {
	return fmt.Errorf("it redirects to %s; if that is right, give it as --url", r.URL.Redacted())
}

// maxConnections is how many connections a command has at most.
const maxConnections = 8

// maxReply bounds the bytes read of one answer.
const maxReply = 256 << 20

// Do sends a request and decodes the answer into out, when out is not nil.
// A *json.RawMessage takes the answer as it is.
func (c *client) Do(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	reply, err := c.Call(ctx, Request{Method: method, Path: path, Body: body})
	if err != nil || out == nil {
		return err
	}
	if raw, ok := out.(*json.RawMessage); ok {
		*raw = reply
		return nil
	}
	if err := json.Unmarshal(reply, out); err != nil {
		return fmt.Errorf("%s %s: the answer is not a conductor's; is %s the right URL? %w", method,
			path, c.Base, err)
	}
	return nil
}

// Pages reads a list to its end, or until limit items are there. kind is the path of the list. Its last part is also
// the list's key in answers.
func (c *client) Pages(ctx context.Context, kind string, q url.Values, limit int) ([]json.RawMessage, error) {
	return c.PagesAt(ctx, nodeapi.Root+"/"+kind, path.Base(kind), q, limit)
}

// PagesAt is Pages for a list at any path. key is the list's key in answers.
func (c *client) PagesAt(ctx context.Context, at, key string, q url.Values, limit int) ([]json.RawMessage, error) {
	items := []json.RawMessage{}
	for {
		var page map[string]json.RawMessage
		if err := c.Do(ctx, "GET", at+"?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		var some []json.RawMessage
		if err := json.Unmarshal(page[key], &some); err != nil {
			return nil, fmt.Errorf("list of %s: %w", key, err)
		}
		items = append(items, some...)
		if len(page["next"]) == 0 || len(some) == 0 || limit > 0 && len(items) >= limit {
			return items, nil
		}
		var last struct {
			UUID string `json:"uuid"`
		}
		if err := json.Unmarshal(some[len(some)-1], &last); err != nil || last.UUID == "" {
			return nil, fmt.Errorf("there are more %s, and the next page needs the field uuid: add it to --fields", key)
		}
		q.Set("marker", last.UUID)
	}
}

// Read reads one record, also as it came.
func Read[T any](ctx context.Context, s *Session, path string) (raw json.RawMessage, record T, err error) {
	if err := s.Client.Do(ctx, "GET", path, nil, &raw); err != nil {
		return nil, record, err
	}
	if err := json.Unmarshal(raw, &record); err != nil {
		return nil, record, fmt.Errorf("the conductor's answer: %w", err)
	}
	return raw, record, nil
}

// Records reads a list to its end.
func Records[T any](ctx context.Context, s *Session, kind string, q url.Values) ([]T, error) {
	all, err := s.Client.Pages(ctx, kind, q, 0)
	if err != nil {
		return nil, err
	}
	records := make([]T, len(all))
	for i, raw := range all {
		if err := json.Unmarshal(raw, &records[i]); err != nil {
			return nil, fmt.Errorf("the conductor's answer: %w", err)
		}
	}
	return records, nil
}

// Request is one request. Its body is JSON, and so is the answer, unless it says
// otherwise.
type Request struct {
	Method, Path string
	Body         []byte
	Form         string            // media type of the body
	Accept       string            // media types of the answer
	Warn         func(text string) // takes the server's warnings, when not nil
}

// MediaJSON is the default media type of requests and answers.
const MediaJSON = "application/json"

// Call sends a request and returns the answer. An error from the server is a *nodeapi.Fault.
func (c *client) Call(ctx context.Context, r Request) ([]byte, error) {
	reply, fault, err := c.send(ctx, r)
	if errors.Is(err, errOlder) {
		reply, fault, err = c.send(ctx, r)
	}
	if err == nil && fault != nil {
		if other, ok := ofHost(r, fault); ok {
			if reply, err := c.Call(ctx, other); !NotFound(err) {
				return reply, err
			}
		}
		asNamed(r, fault)
		err = fault
	}
	return reply, err
}

func (c *client) send(ctx context.Context, r Request) ([]byte, *nodeapi.Fault, error) {
	req, err := c.made(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set(nodeapi.HeaderVersion, nodeapi.Version(int(c.Minor.Load())))
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, nil, c.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotAcceptable && c.stepDown(resp.Header.Get(nodeapi.HeaderMaxVersion)) {
		return nil, nil, errOlder
	}
	for _, text := range resp.Header.Values("Warning") {
		if r.Warn != nil {
			r.Warn(warningText(text))
		}
	}
	reply, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return nil, nil, &lostError{fmt.Errorf("%s %s: the answer ended early: %w", r.Method, r.Path, err)}
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return nil, c.fault(resp.StatusCode, reply), nil
	}
	return reply, nil, nil
}

// made is a request as it goes over the wire.
func (c *client) made(ctx context.Context, r Request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, c.Base+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
	}
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Accept", cmp.Or(r.Accept, MediaJSON))
	if r.Body != nil {
		req.Header.Set("Content-Type", cmp.Or(r.Form, MediaJSON))
	}
	setForce(ctx, req)
	c.login.authorize(req)
	return req, nil
}

// errOlder: the server is older than us; the request is to be sent again.
var errOlder = errors.New("the server speaks an older microversion")

// stepDown goes back to the server's newest microversion when that is older than the requested one.
func (c *client) stepDown(newest string) bool {
	minor, err := nodeapi.ParseVersion(newest)
	if err != nil || int64(minor) >= c.Minor.Load() {
		return false
	}
	c.Minor.Store(int64(minor))
	return true
}

// NodePath is the path of a node, or of a part of it.
func NodePath(node string, parts ...string) string {
	return nodeapi.Root + "/nodes/" + strings.Join(append([]string{url.PathEscape(node)}, parts...), "/")
}

// FerritePath is the path of a part of a node that Ironic does not have.
func FerritePath(node, part string) string {
	return nodeapi.FerriteRoot + "/nodes/" + url.PathEscape(node) + "/" + part
}
