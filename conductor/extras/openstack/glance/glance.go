// Package glance asks OpenStack's Glance for images by their UUIDs (Image API v2), and sends the requests for their
// bytes. It knows no node, and decides nothing.
package glance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagesource"
)

// Cloud logs the conductor in, and finds the URLs of services.
type Cloud interface {
	// Service is a client of a service by its type; "" is Keystone itself.
	Service(ctx context.Context, kind string) (*gophercloud.ServiceClient, error)
}

// Options has the settings and dependencies of a Client.
type Options struct {
	URL       string            // with or without the version; "" takes the URL in Cloud's catalogue
	Cloud     Cloud             // nil: requests show no token
	Transport http.RoundTripper // http.DefaultTransport when nil
	Timeout   time.Duration     // of a question about an image, a login included; 10 s when zero
	Log       *slog.Logger      // of failures with the URLs, which errors do not have; nil: none
}

const (
	defaultTimeout = 10 * time.Second
	// maxAnswer bounds an answer about an image, in bytes: its properties are some KiB.
	maxAnswer = 1 << 20
)

// Client asks one Glance. It is safe for concurrent use.
type Client struct {
	o    Options
	http *http.Client
}

// New checks the options and sends no request: Glance may be away when a conductor starts.
func New(o Options) (*Client, error) {
	if o.URL != "" {
		u, err := url.Parse(o.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
			return nil, fmt.Errorf("the URL of Glance is %q: expected http(s)://HOST[:PORT][/PATH], as in "+
				"https://glance:9292", o.URL)
		}
	} else if o.Cloud == nil {
		return nil, errors.New("neither a URL of Glance nor a catalogue that has one")
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Client{o: o}
	c.http = &http.Client{Transport: signer{c}, CheckRedirect: refuseRedirect}
	return c, nil
}

// HTTP sends requests to the URLs that Data gives. It shows the token, and a new one where that has ended.
func (c *Client) HTTP() *http.Client { return c.http }

// Data is the URL of an image's bytes.
func (c *Client) Data(ctx context.Context, id string) (string, error) {
	base, err := c.base(ctx)
	return base + "images/" + url.PathEscape(id) + "/file", err
}

// base is Glance's URL with the version, and a slash at its end.
func (c *Client) base(ctx context.Context) (string, error) {
	at := c.o.URL
	if at == "" {
		service, err := c.o.Cloud.Service(ctx, "image")
		if err != nil {
			return "", fmt.Errorf("find Glance: %w", err)
		}
		at = service.Endpoint
	}
	return strings.TrimSuffix(strings.TrimRight(at, "/"), "/v2") + "/v2/", nil
}

// Image reads an image's properties in Glance.
func (c *Client) Image(ctx context.Context, id string) (i imagesource.GlanceImage, err error) {
	err = c.ask(ctx, "image "+id, "images/"+url.PathEscape(id), &i)
	switch {
	case status(err) == http.StatusNotFound, status(err) == http.StatusForbidden:
		return i, refused(fmt.Errorf("there is no image %s in Glance for the conductor's user: openstack image list shows "+
			"those there are", id))
	case err != nil:
		return i, err
	case !strings.EqualFold(i.ID, id):
		return i, refused(fmt.Errorf("the answer of Glance for the image %s describes %.40q: is it Glance's URL?", id, i.ID))
	}
	return i, nil
}

// Member reports whether a project has taken up an image that is shared with it.
func (c *Client) Member(ctx context.Context, id, project string) (bool, error) {
	var m struct {
		Status string `json:"status"`
	}
	err := c.ask(ctx, "image "+id, "images/"+url.PathEscape(id)+"/members/"+url.PathEscape(project), &m)
	if s := status(err); s == http.StatusNotFound || s == http.StatusForbidden {
		return false, nil
	}
	return err == nil && m.Status != "rejected", err
}

// ask reads a document of Glance's about something. Failures are logged with its URL.
func (c *Client) ask(ctx context.Context, about, path string, into any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.Timeout, fmt.Errorf("no answer within %s", c.o.Timeout))
	defer cancel()
	base, err := c.base(ctx)
	if err != nil {
		return late(ctx, err)
	}
	err = c.read(ctx, about, base+path, into)
	if s := status(err); err != nil && s != http.StatusNotFound && s != http.StatusForbidden {
		c.o.Log.Warn("Glance does not report an image", "url", base+path, "err", err)
	}
	return err
}

func (c *Client) read(ctx context.Context, about, at string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return fmt.Errorf("ask Glance: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		var sent *url.Error
		if errors.As(err, &sent) {
			err = sent.Err
		}
		return fmt.Errorf("ask Glance for %s: %w", about, late(ctx, err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return &StatusError{For: about, Status: resp.StatusCode}
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("answer of Glance for %s: %w", about, late(ctx, err))
	case len(text) > maxAnswer:
		return refused(fmt.Errorf("the answer of Glance for %s is longer than %d MiB", about, maxAnswer>>20))
	}
	if err := json.Unmarshal(text, into); err != nil {
		return refused(fmt.Errorf("the answer of Glance for %s is no image: is it Glance's URL? %w", about, err))
	}
	return nil
}

// late puts the limit in place of the cancellation that it caused.
func late(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return err
}
