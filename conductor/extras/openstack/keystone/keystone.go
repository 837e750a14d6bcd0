// Package keystone asks OpenStack's Keystone for the owner of a token (Identity API v3). It knows no role of ours, no
// node and no request: package auth decides the rights of an identity.
package keystone

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
)

// Options has the settings and dependencies of a Client.
type Options struct {
	// URL is Keystone's, with or without the version: http(s)://host[:port][/path][/v3]. Files of before 2017 name /v2.0.
	URL string
	// User, Password and Project are of the service user that asks; Domain is the name of the domain of both.
	User, Project, Domain string
	// Region selects the endpoints of services; "" takes the first of the catalogue.
	Region string
	// Password is read at each login, so that a new one needs no restart.
	Password func() (string, error)
	// Lasts is how long an answer is believed without asking again, and so how long a revoked token is still taken.
	Lasts time.Duration
	// Transport sends the requests; http.DefaultTransport when nil.
	Transport http.RoundTripper
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

const (
	// timeout bounds one question, a login of the service user included.
	timeout = 20 * time.Second
	// maxKept bounds the answers that are kept.
	maxKept = 10_000
	// maxToken bounds a token: Fernet's are some 200 bytes, a JWS with many roles some thousands.
	maxToken = 8 << 10
)

// Client asks one Keystone. It is safe for concurrent use.
type Client struct {
	o     Options
	kept  *lru.Cache[[sha256.Size]byte, answer]
	asked singleflight.Group

	login  sync.Mutex // held while the service user logs in
	mu     sync.Mutex
	logged *gophercloud.ProviderClient // nil before the first login
}

// answer is Keystone's answer about a token, and the time until which it is believed.
type answer struct {
	of    auth.Identity
	until time.Time
}

// New checks the options and sends no request: Keystone may be away when a conductor starts.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "":
		return nil, fmt.Errorf("the URL of Keystone is %q: expected http(s)://HOST[:PORT][/PATH], as in "+
			"https://keystone:5000/v3", o.URL)
	case o.User == "" || o.Project == "" || o.Domain == "" || o.Password == nil:
		return nil, errors.New("the service user of Keystone: its name, password, project or domain is missing")
	}
	o.URL = strings.TrimRight(o.URL, "/")
	for _, end := range []string{"/v3/auth/tokens", "/v2.0/tokens", "/v3", "/v2.0"} {
		o.URL = strings.TrimSuffix(o.URL, end)
	}
	o.URL += "/v3"
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	kept, err := lru.New[[sha256.Size]byte, answer](maxKept)
	if err != nil {
		return nil, fmt.Errorf("cache of Keystone's answers: %w", err)
	}
	return &Client{o: o, kept: kept}, nil
}

// URL is Keystone's, with the version: callers without a token are sent there.
func (c *Client) URL() string { return c.o.URL }

// Project and Domain are the names of the service user's, in which services have their users.
func (c *Client) Project() string { return c.o.Project }

// Domain is the name of the service user's domain.
func (c *Client) Domain() string { return c.o.Domain }

// Known is Keystone's recent answer about a token; false when Keystone must be asked.
func (c *Client) Known(token string, expired bool) (auth.Identity, bool) {
	a, ok := c.kept.Get(key(token, expired))
	if !ok || !c.o.Now().Before(a.until) {
		return auth.Identity{}, false
	}
	return a.of, true
}

// Identify finds the user of a token. expired accepts an expired token too, as long as Keystone allows it
// (allow_expired_window, two days): a service shows such a token beside its own. The error is auth.ErrUnknownToken, or
// a failure to ask Keystone.
func (c *Client) Identify(ctx context.Context, token string, expired bool) (auth.Identity, error) {
	if known, ok := c.Known(token, expired); ok {
		return known, nil
	}
	if len(token) > maxToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return auth.Identity{}, auth.ErrUnknownToken
	}
	k := key(token, expired)
	// A caller that goes away does not fail the others that wait for the same answer.
	done := c.asked.DoChan(string(k[:]), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		if known, ok := c.Known(token, expired); ok { // answered since the first look
			return known, nil
		}
		return c.ask(ctx, token, expired)
	})
	select {
	case r := <-done:
		who, _ := r.Val.(auth.Identity)
		return who, r.Err
	case <-ctx.Done():
		return auth.Identity{}, fmt.Errorf("ask Keystone at %s: %w", c.o.URL, ctx.Err())
	}
}

func key(token string, expired bool) [sha256.Size]byte {
	kind := "now "
	if expired {
		kind = "ever " // ahead of the token, which may have any characters
	}
	return sha256.Sum256([]byte(kind + token))
}

func (c *Client) ask(ctx context.Context, token string, expired bool) (auth.Identity, error) {
	asked := c.o.Now()
	identity, err := c.Service(ctx, "")
	if err != nil {
		return auth.Identity{}, err
	}
	at := identity.ServiceURL("auth", "tokens") + "?nocatalog=1"
	if expired {
		at += "&allow_expired=1"
	}
	var body struct {
		Token *described `json:"token"`
	}
	_, err = identity.Get(ctx, at, &body, &gophercloud.RequestOpts{ //nolint:bodyclose // gophercloud closes it
		MoreHeaders: map[string]string{"X-Subject-Token": token},
		OkCodes:     []int{http.StatusOK, http.StatusNonAuthoritativeInfo},
	})
	switch {
	case gophercloud.ResponseCodeIs(err, http.StatusNotFound):
		return auth.Identity{}, auth.ErrUnknownToken
	case gophercloud.ResponseCodeIs(err, http.StatusForbidden):
		return auth.Identity{}, fmt.Errorf("the user %[2]q may check no tokens of Keystone at %[1]s: give it the "+
			"role service or admin in the project %[3]q", c.o.URL, c.o.User, c.o.Project)
	case err != nil:
		return auth.Identity{}, fmt.Errorf("ask Keystone at %s for the owner of a token: %w", c.o.URL, plain(err))
	case body.Token == nil || body.Token.User.ID == "" || body.Token.Expires.IsZero():
		return auth.Identity{}, fmt.Errorf("the answer of Keystone at %s is without a user or an end of the token: is it "+
			"Keystone's URL?", c.o.URL)
	}
	who := body.Token.identity()
	until := asked.Add(c.o.Lasts)
	if !expired {
		if !asked.Before(who.Expires) {
			return auth.Identity{}, auth.ErrUnknownToken
		}
		if who.Expires.Before(until) {
			until = who.Expires
		}
	}
	c.kept.Add(key(token, expired), answer{of: who, until: until})
	return who, nil
}

// Service is a client of a service of the catalogue by its type ("image", "compute", "network"), which shows the
// service user's token; "" is Keystone itself.
func (c *Client) Service(ctx context.Context, kind string) (*gophercloud.ServiceClient, error) {
	p, err := c.provider(ctx)
	if err != nil {
		return nil, err
	}
	if kind == "" {
		return &gophercloud.ServiceClient{ProviderClient: p, Endpoint: c.o.URL + "/", Type: "identity"}, nil
	}
	at, err := endpoint(p, kind, c.o.Region)
	if err != nil {
		return nil, fmt.Errorf("catalogue of Keystone at %s: %w", c.o.URL, err)
	}
	return &gophercloud.ServiceClient{ProviderClient: p, Endpoint: at, Type: kind}, nil
}

// provider logs the service user in, once; gophercloud logs in again when the token has ended.
func (c *Client) provider(ctx context.Context) (*gophercloud.ProviderClient, error) {
	if p := c.loggedIn(); p != nil {
		return p, nil
	}
	c.login.Lock()
	defer c.login.Unlock()
	if p := c.loggedIn(); p != nil {
		return p, nil
	}
	p, err := c.enter(ctx)
	if err != nil {
		return nil, err
	}
	p.ReauthFunc = func(ctx context.Context) error {
		fresh, err := c.enter(ctx)
		if err != nil {
			return err
		}
		p.CopyTokenFrom(fresh)
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logged = p
	return p, nil
}

func (c *Client) loggedIn() *gophercloud.ProviderClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.logged
}

// enter logs the service user in.
func (c *Client) enter(ctx context.Context) (*gophercloud.ProviderClient, error) {
	password, err := c.o.Password()
	if err != nil {
		return nil, fmt.Errorf("password of the user %q of Keystone: %w", c.o.User, err)
	}
	p, err := openstack.NewClient(c.o.URL)
	if err != nil {
		return nil, fmt.Errorf("the URL %s of Keystone: %w", c.o.URL, err)
	}
	p.HTTPClient = http.Client{Transport: Bounded{c.o.Transport}, CheckRedirect: refuseRedirect}
	err = openstack.AuthenticateV3(ctx, p, &tokens.AuthOptions{
		Username: c.o.User, DomainName: c.o.Domain, Password: password,
		Scope: tokens.Scope{ProjectName: c.o.Project, DomainName: c.o.Domain},
	}, gophercloud.EndpointOpts{})
	switch {
	case gophercloud.ResponseCodeIs(err, http.StatusUnauthorized):
		return nil, fmt.Errorf("the user %[2]q of the domain %[3]q, with the project %[4]q, is refused by Keystone at "+
			"%[1]s: correct the password, or the names", c.o.URL, c.o.User, c.o.Domain, c.o.Project)
	case err != nil:
		return nil, fmt.Errorf("log in to Keystone at %s: %w", c.o.URL, plain(err))
	}
	return p, nil
}

// plain is an error without the body of an answer, which a stranger may have written.
func plain(err error) error {
	var code gophercloud.ErrUnexpectedResponseCode
	if errors.As(err, &code) {
		return fmt.Errorf("%s answered %d %s", code.URL, code.Actual, http.StatusText(code.Actual))
	}
	return err
}
