package agents

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Deadlines of a call to an agent, and the largest answer taken: a list of
// commands has the config drive in it as often as it was sent.
const (
	callTimeout = 60 * time.Second
	dialTimeout = 10 * time.Second
	maxAnswer   = 64 << 20
)

// Connections kept: to each agent, and for how many agents.
const (
	connsPerAgent = 2
	maxAgents     = 1024
	idleTimeout   = 30 * time.Second
)

// BusyError says that the agent is at another command; ask again later.
type BusyError struct{ Text string }

func (e *BusyError) Error() string { return "agent: " + e.Text }

// APIError is an answer of the agent that is no result.
type APIError struct {
	Status int
	Fault  agentapi.Fault
}

func (e *APIError) Error() string {
	return fmt.Sprintf("agent answered %d %s: %s", e.Status, http.StatusText(e.Status), e.Fault.String)
}

// Permanent reports whether asking again cannot help: the request itself was
// wrong, not the moment.
func (e *APIError) Permanent() bool { return e.Status/100 == 4 }

// UnknownCommand reports whether the agent has no such command or extension:
// ironic-python-agent answers 400 or 404 then.
func (e *APIError) UnknownCommand() bool {
	return e.Status == http.StatusBadRequest || e.Status == http.StatusNotFound
}

// CertificateError says that who answered is not the agent that sent the
// heartbeat.
type CertificateError struct{ URL string }

func (e *CertificateError) Error() string {
	return fmt.Sprintf("agent at %s: its certificate is not the one its heartbeat announced", e.URL)
}

// Client commands agents. It is safe for several goroutines.
type Client struct {
	mu     sync.Mutex
	agents map[agentKey]*agentConn
}

// agentKey is an agent of one boot: a new boot has a new certificate.
type agentKey struct {
	url string
	pin [sha256.Size]byte
}

// agentConn is the connections to one agent.
type agentConn struct {
	client *http.Client
	used   time.Time
}

// NewClient makes a client.
func NewClient() *Client { return &Client{agents: map[agentKey]*agentConn{}} }

// Execute gives the agent a command. With wait it returns the result when the
// command has ended; else, for commands that take long, as RUNNING. A failed
// command is a result, not an error.
func (c *Client) Execute(ctx context.Context, a node.Agent, cmd agentapi.Command, wait bool) (agentapi.Result, error) {
	var r agentapi.Result
	if err := cmd.Validate(); err != nil {
		return r, err
	}
	body, err := json.Marshal(cmd)
	if err != nil {
		return r, fmt.Errorf("agent command %s: %w", cmd.Name, err)
	}
	query := url.Values{"wait": {fmt.Sprint(wait)}}
	if err := c.call(ctx, a, http.MethodPost, query, body, &r); err != nil {
		return r, fmt.Errorf("agent command %s: %w", cmd.Name, err)
	}
	return r, nil
}

// Commands lists what the agent was given since it started, oldest first.
func (c *Client) Commands(ctx context.Context, a node.Agent) ([]agentapi.Result, error) {
	var r agentapi.Results
	if err := c.call(ctx, a, http.MethodGet, url.Values{}, nil, &r); err != nil {
		return nil, fmt.Errorf("list agent commands: %w", err)
	}
	return r.Commands, nil
}

// Close drops all connections.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, conn := range c.agents {
		conn.client.CloseIdleConnections()
		delete(c.agents, key)
	}
}

// call makes one request to /v1/commands/. The token travels in the query, as
// the protocol has it; it is left out of errors.
func (c *Client) call(ctx context.Context, a node.Agent, method string, query url.Values, body []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	client, err := c.clientFor(a)
	if err != nil {
		return err
	}
	query.Set("agent_token", a.Token)
	target := strings.TrimRight(a.URL, "/") + "/v1/commands/"
	req, err := http.NewRequestWithContext(ctx, method, target+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return withoutURL(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, target, withoutURL(err))
	}
	defer resp.Body.Close() // read to its end below
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s %s: read the answer: %w", method, target, err)
	}
	b = nodeapi.CleanJSON(b) // it holds what programs said and disks are called
	if resp.StatusCode >= http.StatusBadRequest {
		return refusal(resp.StatusCode, b)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: expected 200, found %d", method, target, resp.StatusCode)
	}
	if err := json.Unmarshal(b, answer); err != nil {
		return fmt.Errorf("%s %s: the answer is not what was expected: %w", method, target, err)
	}
	return nil
}

// refusal reads a fault. Agents say that they are busy by the status or by
// their words.
func refusal(status int, body []byte) error {
	var f agentapi.Fault
	if err := json.Unmarshal(body, &f); err != nil || f.String == "" {
		f = agentapi.Fault{Code: "Client", String: strings.Join(strings.Fields(string(body[:min(len(body), 300)])), " ")}
	}
	if status == http.StatusConflict || strings.Contains(strings.ToLower(f.String), "agent is busy") {
		return &BusyError{Text: f.String}
	}
	return &APIError{Status: status, Fault: f}
}

// withoutURL takes the URL, and with it the token, out of an HTTP client's
// error.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// clientFor finds or makes the connections to an agent.
func (c *Client) clientFor(a node.Agent) (*http.Client, error) {
	u, err := url.Parse(a.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("agent URL %q is not one; has the agent sent a heartbeat?", a.URL)
	}
	if u.Scheme != "https" {
		return nil, fmt.Errorf("agent URL %q: expected https, since the token must not travel in clear", a.URL)
	}
	block, _ := pem.Decode([]byte(a.VerifyCA))
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, fmt.Errorf("agent %s announced no certificate to know it by", a.URL)
	}
	key := agentKey{url: a.URL, pin: sha256.Sum256(block.Bytes)}
	c.mu.Lock()
	defer c.mu.Unlock()
	conn, known := c.agents[key]
	if !known {
		c.makeRoom()
		conn = &agentConn{client: &http.Client{Transport: pinned(a.URL, block.Bytes), CheckRedirect: noRedirect}}
		c.agents[key] = conn
	}
	conn.used = time.Now()
	return conn.client, nil
}

// makeRoom forgets the agent that was not called for the longest time when
// there are too many. The lock is held.
func (c *Client) makeRoom() {
	if len(c.agents) < maxAgents {
		return
	}
	var oldest agentKey
	var since time.Time
	for key, conn := range c.agents {
		if since.IsZero() || conn.used.Before(since) {
			oldest, since = key, conn.used
		}
	}
	c.agents[oldest].client.CloseIdleConnections()
	delete(c.agents, oldest)
}

// pinned makes connections that talk to the holder of one certificate only.
// Names and times in it do not matter then: a machine that was just switched
// on may be in the wrong year.
func pinned(agentURL string, der []byte) *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout: dialTimeout,
		MaxConnsPerHost:     connsPerAgent,
		MaxIdleConnsPerHost: connsPerAgent,
		IdleConnTimeout:     idleTimeout,
		TLSClientConfig: &tls.Config{
			MinVersion:         tls.VersionTLS12,
			InsecureSkipVerify: true, // VerifyConnection does it
			VerifyConnection: func(s tls.ConnectionState) error {
				if len(s.PeerCertificates) == 0 || !bytes.Equal(s.PeerCertificates[0].Raw, der) {
					return &CertificateError{URL: agentURL}
				}
				return nil
			},
		},
	}
}

// noRedirect keeps the token from being sent elsewhere.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
