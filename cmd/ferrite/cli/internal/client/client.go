package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
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
		return fmt.Errorf("%s %s: the answer is not that of a conductor; is %s the right URL? %w", method,
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
		c.pointToHost(ctx, fault)
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
	lasting := *c.http
	lasting.Timeout = 0 // of the whole answer
	resp, err := lasting.Do(req)
	if err != nil {
		return nil, c.unreachable(ctx, err)
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
	asNamed(r, fault)
	return nil, fault
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

// plainToTLS is the answer of Go's servers to plain HTTP on a port of HTTPS.
const plainToTLS = "Client sent an HTTP request to an HTTPS server"

// lineBegin is a further line of a text that is not indented.
var lineBegin = regexp.MustCompile(`\n(\S)`)

// fault is the server's error. It adds advice where the cause is the caller's login or the request's form.
func (c *client) fault(status int, reply []byte) *nodeapi.Fault {
	f := nodeapi.ParseFault(status, reply)
	if text, ok := statusText(reply); ok {
		f.Text = text
	}
	// further lines of it would look like errors of ours
	f.Text = lineBegin.ReplaceAllString(f.Text, "\n  $1")
	switch {
	case status == http.StatusUnauthorized:
		f.Text += "\n  log in: --user with FERRITE_PASSWORD or --user-password-file, or FERRITE_TOKEN"
	case strings.HasPrefix(f.Text, plainToTLS):
		f.Text += "\n  use https:// in --url or FERRITE_URL: " + strings.Replace(c.Base, "http://", "https://", 1)
	}
	return f
}

// unreachable explains why no answer came, with advice.
func (c *client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	var untrusted *tls.CertificateVerificationError
	var bad x509.CertificateInvalidError
	if errors.As(err, &untrusted) && errors.As(err, &bad) && bad.Reason == x509.Expired {
		return fmt.Errorf("the certificate of %s is not valid now: %w\n"+
			"  is the clock of this machine right? if it is, renew the conductor's --tls-cert; it needs no "+
			"restart", c.Base, err)
	}
	if errors.As(err, &untrusted) {
		return fmt.Errorf("the certificate of %s is not trusted: %w\n  name its authority with --ca-file or FERRITE_CACERT",
			c.Base, err)
	}
	if errors.Is(err, http.ErrSchemeMismatch) { // and will not be another server by waiting
		return exit.Is(exit.Unreachable, fmt.Errorf("the server at %s speaks plain HTTP: use %s in --url or FERRITE_URL",
			c.Base, "http://"+strings.TrimPrefix(c.Base, "https://")))
	}
	return &lostError{fmt.Errorf("cannot reach a conductor at %s: %w\n  is one running there? start one with: "+
		"ferrite serve\n"+
		"  is it at another address? set --url or FERRITE_URL", c.Base, err)}
}

// NotFound reports whether the server lacks the requested resource.
func NotFound(err error) bool {
	var f *nodeapi.Fault
	return errors.As(err, &f) && f.Status == http.StatusNotFound
}

// Forbidden reports whether the caller lacks the right to the requested resource.
func Forbidden(err error) bool {
	var f *nodeapi.Fault
	return errors.As(err, &f) && f.Status == http.StatusForbidden
}

// Unserved reports whether the server does not know the path. A Ferrite that lacks the node or the record answers 404
// with a text.
func Unserved(err error) bool {
	var f *nodeapi.Fault
	return errors.As(err, &f) && f.Status == http.StatusNotFound && f.Text == ""
}

// Older explains the error of a server that does not know a path: it lacks, say, "keeps no images". Other errors stay.
func (s *Session) Older(err error, lacks string) error {
	if Unserved(err) {
		return fmt.Errorf("the server at %s %s: it is no Ferrite, or an older one", s.Client.Base, lacks)
	}
	return err
}

// NodePath is the path of a node, or of a part of it.
func NodePath(node string, parts ...string) string {
	return nodeapi.Root + "/nodes/" + strings.Join(append([]string{url.PathEscape(node)}, parts...), "/")
}

// FerritePath is the path of a part of a node that Ironic does not have.
func FerritePath(node, part string) string {
	return nodeapi.FerriteRoot + "/nodes/" + url.PathEscape(node) + "/" + part
}

// Failed is the error in a Status amid a watch.
func (c *client) Failed(status json.RawMessage) error {
	var st struct{ Code int }
	if err := json.Unmarshal(status, &st); err != nil || st.Code == 0 {
		st.Code = http.StatusInternalServerError
	}
	return c.fault(st.Code, status)
}
