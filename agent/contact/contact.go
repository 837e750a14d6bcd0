// Package contact is the agent's side of the conductor's API: which version
// it speaks, lookup, heartbeat, inspection data, progress, log lines.
//
// It must not keep state about the node or decide when to call: it carries
// one question and one answer, with a deadline.
package contact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Options are the conductor's addresses and the ways to trust it.
type Options struct {
	URLs      []string // best first
	Pins      [][]byte // SHA-256 of its certificate, of the authority that signs it; none: verified by the system's roots
	Insecure  bool     // its certificate is not verified at all
	RequestID string   // sent with every request; may be empty
	// Heard takes the time of each answer, and whether it came by a pinned certificate; nil for no calls. Times are
	// zero in answers without a Date.
	Heard func(at time.Time, pinned bool)
	// Clocks is the time by the machine and by the conductor, for errors of expired
	// certificates; nil or "" for nothing to say.
	Clocks func() string
	// Secret proves to which node this agent belongs: the one-time token of its boot,
	// later its token; "" while it has neither. Nil for never any.
	Secret func() string
	// BootMode is how the machine was started, uefi or bios; "" to say nothing of it.
	BootMode string
}

// Timeouts of a request, and the largest answer taken.
const (
	requestTimeout = 30 * time.Second
	maxAnswer      = 8 << 20
	maxValues      = 100_000 // JSON values and keys
)

// Conductor is one or more addresses of the same conductor. It is safe for
// several goroutines.
type Conductor struct {
	client    *http.Client
	requestID string
	secret    func() string
	bootMode  string
	heard     func(at time.Time, pinned bool)
	pinned    bool
	insecure  bool // any certificate is taken

	mu    sync.Mutex
	urls  []string // the last working one is first
	minor int      // the newest microversion 1.N it speaks; 0 before it was asked
}

// New makes a client; nothing is sent yet.
func New(o Options) *Conductor {
	return &Conductor{client: newHTTPClient(o), requestID: o.RequestID, secret: o.Secret, bootMode: o.BootMode,
		heard:    o.Heard,
		pinned:   len(o.Pins) > 0,
		insecure: o.Insecure && len(o.Pins) == 0,
		urls:     append([]string(nil), o.URLs...)}
}

// StatusError is an answer that was not the one hoped for.
type StatusError struct {
	Method, URL string
	Status      int
	Text        string // the answer's own words, shortened
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s %s: answered %d %s: %s", e.Method, e.URL, e.Status, http.StatusText(e.Status), e.Text)
}

// Status is the HTTP status an error stands for, 0 for none.
func Status(err error) int {
	var s *StatusError
	if errors.As(err, &s) {
		return s.Status
	}
	return 0
}

// URL is the address that worked last.
func (c *Conductor) URL() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.urls[0]
}

// Version asks for and remembers the newest microversion 1.minor that the
// conductor speaks.
func (c *Conductor) Version(ctx context.Context) (minor int, err error) {
	var root nodeapi.Discovery
	if err := c.each(func(base string) error {
		return c.call(ctx, http.MethodGet, base+"/", "", nil, &root)
	}); err != nil {
		return 0, err
	}
	if minor, err = nodeapi.ParseVersion(root.DefaultVersion.Version); err != nil {
		return 0, fmt.Errorf("GET %s/: default_version: %w", c.URL(), err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.minor = minor
	return minor, nil
}

// Lookup asks which node has these MAC addresses. nodeUUID is given once it
// is known.
func (c *Conductor) Lookup(ctx context.Context, macs []string, nodeUUID string) (agentapi.LookupReply, error) {
	query := url.Values{"addresses": {strings.Join(macs, ",")}}
	if nodeUUID != "" {
		query.Set("node_uuid", nodeUUID)
	}
	var reply agentapi.LookupReply
	err := c.each(func(base string) error {
		reply = agentapi.LookupReply{} // of a former address, perhaps half read
		header := http.Header{}
		header.Set(agentapi.VersionHeader, c.atMost(agentapi.LookupMinor))
		if c.secret != nil && c.secret() != "" {
			header.Set(agentapi.BootWordHeader, c.secret())
		}
		if c.bootMode != "" {
			header.Set(agentapi.BootModeHeader, c.bootMode)
		}
		return c.send(ctx, http.MethodGet, base+agentapi.LookupPath+"?"+query.Encode(), header, nil, &reply)
	})
	if err != nil {
		return reply, err
	}
	return reply, reply.Validate()
}

// Heartbeat says that the agent is there and where.
func (c *Conductor) Heartbeat(ctx context.Context, nodeUUID string, h agentapi.Heartbeat) error {
	return c.each(func(base string) error {
		return c.call(ctx, http.MethodPost, base+agentapi.HeartbeatPath+url.PathEscape(nodeUUID),
			c.atMost(agentapi.HeartbeatMinor), h, nil)
	})
}

// Progress says how far a step has come. Only a conductor that asked for it
// in its lookup reply knows this path.
func (c *Conductor) Progress(ctx context.Context, nodeUUID string, p agentapi.Progress) error {
	path := agentapi.AgentsPath + url.PathEscape(nodeUUID) + agentapi.ProgressSuffix
	return c.call(ctx, http.MethodPost, c.URL()+path, "", p, nil)
}

// Inspection sends inspection data to a full URL, without a version: conductors of any version take it.
func (c *Conductor) Inspection(
	ctx context.Context, fullURL string, i agentapi.Inspection,
) (agentapi.InspectionReply, error) {
	var reply agentapi.InspectionReply
	payload, err := json.Marshal(i)
	if err != nil {
		return reply, fmt.Errorf("inspection data: %w", err)
	}
	bare, header := withoutWord(fullURL)
	err = c.send(ctx, http.MethodPost, bare, header, payload, &reply)
	return reply, err
}

// withoutWord moves the boot's one-time token out of a URL into a header: errors
// quote URLs, and logs quote errors.
func withoutWord(full string) (bare string, header http.Header) {
	header = http.Header{}
	u, err := url.Parse(full)
	if err != nil {
		return full, header
	}
	query := u.Query()
	word := query.Get(agentapi.BootWordParameter)
	if word == "" {
		return full, header
	}
	query.Del(agentapi.BootWordParameter)
	u.RawQuery = query.Encode()
	header.Set(agentapi.BootWordHeader, word)
	return u.String(), header
}

// atMost is the version to ask for: the one we know, or the conductor's when
// it is older.
func (c *Conductor) atMost(minor int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.minor > 0 {
		minor = min(minor, c.minor)
	}
	return nodeapi.Version(minor)
}

// each tries the addresses in turn until one answers at all; that one is
// first the next time. An answer that is an error is an answer.
func (c *Conductor) each(try func(base string) error) error {
	c.mu.Lock()
	bases := append([]string(nil), c.urls...)
	c.mu.Unlock()
	var errs []error
	for _, base := range bases {
		err := try(base)
		if err == nil || Status(err) != 0 {
			c.prefer(base)
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (c *Conductor) prefer(base string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, u := range c.urls {
		if u == base {
			copy(c.urls[1:i+1], c.urls[:i])
			c.urls[0] = base
			return
		}
	}
}

// call makes one request with body as JSON.
func (c *Conductor) call(ctx context.Context, method, target, version string, body any, answer any) error {
	var payload []byte
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return fmt.Errorf("%s %s: %w", method, target, err)
		}
	}
	header := http.Header{}
	if version != "" {
		header.Set(agentapi.VersionHeader, version)
	}
	return c.send(ctx, method, target, header, payload, answer)
}

// send makes one request. Any 2xx is success: for the same request conductors
// and inspectors, and Ironic's own releases, differ between 200, 202 and 204.
func (c *Conductor) send(
	ctx context.Context, method, target string, header http.Header, payload []byte, answer any,
) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var body io.Reader
	if payload != nil {
		body = bytes.NewReader(payload)
	}
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return err
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", agentapi.UserAgent)
	if c.requestID != "" {
		req.Header.Set(agentapi.RequestIDHeader, c.requestID)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() // read to its end below
	if c.heard != nil {
		at, _ := http.ParseTime(resp.Header.Get("Date")) // zero for none
		c.heard(at, c.pinned && resp.TLS != nil)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s %s: read the answer: %w", method, target, err)
	}
	if resp.StatusCode/100 != 2 {
		return &StatusError{Method: method, URL: target, Status: resp.StatusCode, Text: shorten(b)}
	}
	if answer == nil || len(bytes.TrimSpace(b)) == 0 {
		return nil
	}
	if err := nodeapi.DecodePeer(b, maxValues, answer); err != nil {
		return fmt.Errorf("%s %s: unexpected answer: %w", method, target, err)
	}
	return nil
}

// shorten keeps an answer fit for a log line.
func shorten(b []byte) string {
	s := strings.Join(strings.Fields(string(b)), " ")
	if len(s) > 300 {
		s = s[:300] + "..."
	}
	return s
}
