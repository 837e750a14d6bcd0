// Package ironic reads another Ironic by its REST API: every list to its end, or not at all.
//
// It knows records as JSON, and not their use. It sends nothing to an address that an answer names.
package ironic

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Oldest is the first microversion with all records of a node: Train's (2019).
const Oldest = 58

// Bounds of one Ironic's answers.
const (
	maxAnswer  = 64 << 20
	maxRecords = 500_000
	pageSize   = 500
	tries      = 3
)

// Record is one record as Ironic shows it.
type Record = map[string]any

// Config names an Ironic, and the login there.
type Config struct {
	URL      string
	Login    Login
	CAFile   string
	Insecure bool
	Timeout  time.Duration
	Agent    string // User-Agent
}

// Client asks one Ironic, in the newest microversion that both know.
type Client struct {
	base  string // without /v1
	agent string
	http  *http.Client
	login *Login
	minor int
}

// Open reads the version of an Ironic, and refuses an Ironic that is too old.
func Open(ctx context.Context, conf Config) (*Client, error) {
	u, err := url.Parse(conf.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("the URL of Ironic is %q: expected http://HOST:PORT or https://HOST:PORT, without a "+
			"user", nodeapi.MaskText(conf.URL))
	}
	transport, err := conf.transport()
	if err != nil {
		return nil, err
	}
	c := &Client{
		base:  strings.TrimSuffix(strings.TrimRight(conf.URL, "/"), nodeapi.Root),
		agent: conf.Agent, login: &conf.Login,
		http: &http.Client{Timeout: conf.Timeout, Transport: transport,
			CheckRedirect: func(r *http.Request, _ []*http.Request) error {
				return fmt.Errorf("it redirects to %s; if that is right, give that URL", r.URL.Redacted())
			}},
	}
	if err := c.login.begin(ctx, c.http); err != nil {
		return nil, err
	}
	return c, c.negotiate(ctx)
}

func (conf Config) transport() (http.RoundTripper, error) {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, fmt.Errorf("the HTTP client is a %T, expected *http.Transport", http.DefaultTransport)
	}
	t = t.Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: conf.Insecure}
	if conf.CAFile == "" {
		return t, nil
	}
	pem, err := os.ReadFile(conf.CAFile)
	if err != nil {
		return nil, fmt.Errorf("--ironic-ca-file: %w", err)
	}
	t.TLSClientConfig.RootCAs = x509.NewCertPool()
	if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("--ironic-ca-file %s: expected a certificate in PEM, found none", conf.CAFile)
	}
	return t, nil
}

// URL is the base of the API, without /v1.
func (c *Client) URL() string { return c.base }

// Minor is the microversion that is spoken: 1.Minor.
func (c *Client) Minor() int { return c.minor }

// negotiate asks for the newest microversion of the server.
func (c *Client) negotiate(ctx context.Context) error {
	answer, err := c.send(ctx, http.MethodGet, "/v1/", nil)
	if err != nil {
		return err
	}
	newest := answer.header.Get(nodeapi.HeaderMaxVersion)
	if newest == "" {
		return fmt.Errorf("%s/v1/ is answered without %s: expected the Bare Metal API of Ironic", c.base,
			nodeapi.HeaderMaxVersion)
	}
	minor, err := nodeapi.ParseVersion(newest)
	if err != nil {
		return fmt.Errorf("the newest microversion of %s is %q: expected 1.N", c.base, newest)
	}
	if minor < Oldest {
		return fmt.Errorf("the Ironic at %s knows microversions up to 1.%d, and this command needs 1.%d (Train, 2019): "+
			"upgrade that Ironic first", c.base, minor, Oldest)
	}
	c.minor = min(minor, nodeapi.MaxMinor)
	return nil
}

// List reads a list to its end. Key is the member of the answer that holds it.
func (c *Client) List(ctx context.Context, path, key string, q url.Values) ([]Record, error) {
	if q == nil {
		q = url.Values{}
	}
	q.Set("limit", fmt.Sprint(pageSize))
	seen := map[string]bool{}
	all := []Record{}
	for {
		var page map[string]json.RawMessage
		if err := c.Get(ctx, "/v1/"+path+"?"+q.Encode(), &page); err != nil {
			return nil, fmt.Errorf("the list of %s, of which %d were read: %w", path, len(all), err)
		}
		var some []Record
		if err := decode(page[key], &some); err != nil {
			return nil, fmt.Errorf("the list of %s: expected a list %q: %w", path, key, err)
		}
		for _, r := range some {
			id, _ := r["uuid"].(string)
			if id == "" || seen[id] {
				return nil, fmt.Errorf("the list of %s: a page repeats the record %q or has none: the list cannot be read to its "+
					"end", path, id)
			}
			seen[id] = true
			q.Set("marker", id)
		}
		all = append(all, some...)
		if len(page["next"]) == 0 || string(page["next"]) == "null" || len(some) == 0 {
			return all, nil
		}
		if len(all) > maxRecords {
			return nil, fmt.Errorf("the list of %s has more than %d records, which is more than one import reads", path,
				maxRecords)
		}
	}
}

// Get reads one document.
func (c *Client) Get(ctx context.Context, path string, out any) error {
	answer, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if err := decode(answer.body, out); err != nil {
		return fmt.Errorf("GET %s: expected JSON: %w", path, err)
	}
	return nil
}

// Do sends a request with a body as JSON; out may be nil.
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	answer, err := c.send(ctx, method, path, body)
	if err != nil || out == nil {
		return err
	}
	if err := decode(answer.body, out); err != nil {
		return fmt.Errorf("%s %s: expected JSON: %w", method, path, err)
	}
	return nil
}

// decode keeps numbers as they are written.
func decode(raw []byte, out any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(out)
}

// answer is an answer without a fault.
type answer struct {
	header http.Header
	body   []byte
}

// send repeats requests that only read when a connection breaks off, and logs in again when a token has expired.
func (c *Client) send(ctx context.Context, method, path string, body []byte) (answer, error) {
	renewed := false
	for try := 1; ; try++ {
		a, err := c.once(ctx, method, path, body)
		var fault *nodeapi.Fault
		switch {
		case err == nil:
			return a, nil
		case errors.As(err, &fault) && fault.Status == http.StatusUnauthorized && !renewed && c.login.renews():
			renewed = true
			if err := c.login.begin(ctx, c.http); err != nil {
				return a, err
			}
		case errors.As(err, &fault) && fault.Status != http.StatusServiceUnavailable, method != http.MethodGet, try == tries:
			return a, err
		default:
			select {
			case <-ctx.Done():
				return a, ctx.Err()
			case <-time.After(time.Duration(try) * time.Second):
			}
		}
	}
}

func (c *Client) once(ctx context.Context, method, path string, body []byte) (a answer, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return a, fmt.Errorf("%s %s: %w", method, path, err)
	}
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.minor > 0 {
		req.Header.Set(nodeapi.HeaderVersion, nodeapi.Version(c.minor))
	}
	c.login.authorize(req)
	resp, err := c.http.Do(req)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return a, fmt.Errorf("cannot reach Ironic at %s: %w", c.base, err)
	}
	defer resp.Body.Close()
	a.header = resp.Header
	if a.body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1)); err != nil {
		return a, fmt.Errorf("%s %s: the answer ended early: %w", method, path, err)
	}
	if len(a.body) > maxAnswer {
		return a, &nodeapi.Fault{Status: http.StatusInsufficientStorage,
			Text: fmt.Sprintf("%s %s: the answer is larger than %d MiB", method, path, maxAnswer>>20)}
	}
	if resp.StatusCode >= http.StatusBadRequest {
		f := nodeapi.ParseFault(resp.StatusCode, a.body)
		if f.Status == http.StatusUnauthorized {
			f.Text += "\n  log in to Ironic with OS_AUTH_URL and its companions, or IRONIC_USER and IRONIC_PASSWORD, or OS_TOKEN"
		}
		return a, fmt.Errorf("%s %s%s: %w", method, c.base, path, f)
	}
	return a, nil
}
