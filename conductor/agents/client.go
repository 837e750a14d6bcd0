package agents

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/cacert"
	"github.com/ferrite-metal/ferrite/conductor/outbound/dial"
	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
	"github.com/ferrite-metal/ferrite/conductor/outbound/tlspolicy"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Deadlines of a call to an agent, and bounds of its refusals and headers.
const (
	callTimeout = 60 * time.Second
	dialTimeout = 10 * time.Second
	maxFault    = 64 << 10
	maxHeader   = 256 << 10
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

// ClientOptions are the options of a Client.
type ClientOptions struct {
	// Dialer decides which addresses are called; nil: all.
	Dialer dial.Dialer
	// VerifyCA is a node's driver_info/agent_verify_ca: "true", "false", PEM text or
	// a path inside CAs; nil: "true" for all.
	VerifyCA func(node.Node) (string, error)
	CAs      cacert.Folder
	// Roots are the authorities that "true" stands for; nil: the authorities of this host.
	Roots *x509.CertPool
	// PlainHTTP lets agents be called without TLS.
	PlainHTTP bool
	// TLS is the policy of the connections.
	TLS tlspolicy.Policy
}

// Client commands agents. It is safe for several goroutines.
type Client struct {
	ClientOptions
	room   *exchange.Budget // of all answers
	large  *exchange.Budget // of the bytes beyond maxAnswer in large answers
	mu     sync.Mutex
	agents map[agentKey]*agentConn
}

// agentKey is an agent of one boot: a new boot has a new certificate.
type agentKey struct {
	url string
	pin [sha256.Size]byte // of the certificate, or of the node's setting
}

// agentConn is the connections to one agent.
type agentConn struct {
	client *http.Client
	used   time.Time
}

// NewClient makes a client.
func NewClient(o ClientOptions) *Client {
	if o.Dialer == nil {
		o.Dialer = &net.Dialer{}
	}
	if o.VerifyCA == nil {
		o.VerifyCA = func(node.Node) (string, error) { return "true", nil }
	}
	return &Client{ClientOptions: o, room: exchange.NewBudget(agentRoom, exchange.FreeAnswer),
		large: exchange.NewBudget(largeRoom, 0), agents: map[agentKey]*agentConn{}}
}

// Execute gives the agent of n a command. With wait it returns the result when the
// command has ended; else, for commands that take long, as RUNNING. A failed
// command is a result, not an error.
func (c *Client) Execute(ctx context.Context, n node.Node, cmd agentapi.Command, wait bool) (agentapi.Result, error) {
	var r agentapi.Result
	if err := cmd.Validate(); err != nil {
		return r, err
	}
	body, err := json.Marshal(cmd)
	if err != nil {
		return r, fmt.Errorf("agent command %s: %w", cmd.Name, err)
	}
	query := url.Values{"wait": {fmt.Sprint(wait)}}
	if err := c.call(ctx, n, cmd.Name, http.MethodPost, query, body, &r); err != nil {
		return r, fmt.Errorf("agent command %s: %w", cmd.Name, err)
	}
	return r, nil
}

// Commands lists the commands that the agent of n received since it started, oldest first.
func (c *Client) Commands(ctx context.Context, n node.Node) ([]agentapi.Result, error) {
	var r agentapi.Results
	if err := c.call(ctx, n, "list commands", http.MethodGet, url.Values{}, nil, &r); err != nil {
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

// commandsPath is where an agent takes commands.
const commandsPath = "/v1/commands/"

// call makes one request to commandsPath; name describes it in the exchange. The protocol puts the token into the
// query; call keeps it out of errors.
func (c *Client) call(ctx context.Context, n node.Node, name, method string, query url.Values, body []byte,
	answer any) (err error) {
	ctx, cancel := context.WithTimeout(exchange.Of(ctx, n.Project()), callTimeout)
	defer cancel()
	told := exchange.Exchange{Protocol: exchange.Agent, Name: name, Method: method, Path: commandsPath,
		Server: strings.TrimRight(n.Agent.URL, "/"), Began: time.Now()}
	defer func() {
		told.Err = err
		exchange.Ended(ctx, told)
	}()
	client, err := c.clientFor(n)
	if err != nil {
		return err
	}
	query.Set("agent_token", n.Agent.Token)
	target := told.Server + commandsPath
	req, err := http.NewRequestWithContext(ctx, method, target+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return withoutURL(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, target, quoted{withoutURL(err), n.Agent.Token})
	}
	told.Status = resp.StatusCode
	defer resp.Body.Close() // read to its end below
	b, done, err := c.read(ctx, resp, mayBeLarge(method, name))
	defer done()
	if err != nil {
		return fmt.Errorf("%s %s: read the answer: %w", method, target, err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return refusal(resp.StatusCode, b, n.Agent.Token)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: expected 200, found %d", method, target, resp.StatusCode)
	}
	if err := nodeapi.DecodePeer(b, maxValues, answer); err != nil {
		return fmt.Errorf("%s %s: the answer is not as expected: %w", method, target, quoted{err, n.Agent.Token})
	}
	return nil
}

// clientFor finds or makes the connections to the agent of n.
func (c *Client) clientFor(n node.Node) (*http.Client, error) {
	t, err := c.trustIn(n)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	conn, known := c.agents[t.key()]
	if !known {
		c.makeRoom()
		conn = &agentConn{client: &http.Client{Transport: c.transport(t), CheckRedirect: noRedirect}}
		c.agents[t.key()] = conn
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

// transport makes connections to one agent.
func (c *Client) transport(t trust) *http.Transport {
	conf := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection does it
		VerifyConnection:   t.verify,
	}
	c.TLS.Apply(conf)
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			short, cancel := context.WithTimeout(ctx, dialTimeout)
			defer cancel()
			return c.Dialer.DialContext(short, network, address)
		},
		TLSHandshakeTimeout:    dialTimeout,
		MaxConnsPerHost:        connsPerAgent,
		MaxIdleConnsPerHost:    connsPerAgent,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // a small answer stays one
		TLSClientConfig:        conf,
	}
}

// noRedirect keeps the token from being sent elsewhere.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
