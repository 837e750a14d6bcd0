package neutron

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// requestTime bounds a request to Neutron, which has the drivers of switches at work before it answers.
const requestTime = 60 * time.Second

// Config has the settings and dependencies of a Client. Service and Networks are required.
type Config struct {
	// Service is Neutron as the service user reaches it.
	Service func(context.Context) (*gophercloud.ServiceClient, error)
	// Networks are the names or UUIDs of the ramdisks' networks, by plan.RamdiskNetworks.
	Networks map[string]string
	// NodeNetworks are the networks that a node may name instead, in its driver_info.
	NodeNetworks []string
	// SecurityGroups are names or UUIDs of security groups for the ramdisks' ports, by plan.RamdiskNetworks; none:
	// Neutron's default.
	SecurityGroups map[string][]string
}

// Client is a core.Networks over Neutron. It is safe for concurrent use.
type Client struct{ Config }

// New makes a Client. It sends no request: Neutron may be away when a conductor starts.
func New(c Config) *Client { return &Client{c} }

// At is a Neutron that asks for no token, for Config.Service.
func At(rawURL string, transport http.RoundTripper) (func(context.Context) (*gophercloud.ServiceClient, error), error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("the URL of Neutron is %q: expected http(s)://HOST[:PORT][/PATH], as in "+
			"http://neutron:9696", nodeapi.MaskText(rawURL))
	}
	provider := &gophercloud.ProviderClient{HTTPClient: http.Client{Transport: transport}}
	service := &gophercloud.ServiceClient{ProviderClient: provider, Endpoint: strings.TrimRight(u.String(), "/") + "/",
		Type: "network"}
	return func(context.Context) (*gophercloud.ServiceClient, error) { return service, nil }, nil
}

// port is a port of Neutron's, in the fields that are read here.
type port struct {
	ID        string         `json:"id"`
	NetworkID string         `json:"network_id"`
	Project   string         `json:"project_id"`
	Owner     string         `json:"device_owner"`
	MAC       string         `json:"mac_address"`
	Host      string         `json:"binding:host_id"`
	Profile   map[string]any `json:"binding:profile"`
	VIFType   string         `json:"binding:vif_type"`
	VNIC      string         `json:"binding:vnic_type"`
	Groups    []string       `json:"security_groups"`
}

// ramdiskOwner is the device_owner of the ports of ramdisks, as Ironic's have it.
const ramdiskOwner = "baremetal:none"

// bindingFailed is the binding:vif_type of a port that no mechanism driver has bound at a switch.
const bindingFailed = "binding_failed"

// call sends one request, and reads the answer into a document.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	s, err := c.Service(ctx)
	if err != nil {
		return fmt.Errorf("network service: %w", err)
	}
	at := strings.TrimSuffix(strings.TrimRight(s.Endpoint, "/"), "/v2.0") + "/v2.0/" + path
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	options := &gophercloud.RequestOpts{JSONBody: body, JSONResponse: into,
		OkCodes: []int{http.StatusOK, http.StatusCreated, http.StatusNoContent}}
	_, err = s.Request(ctx, method, at, options) //nolint:bodyclose // gophercloud reads and closes it
	if err != nil {
		return &Error{Method: method, Path: "/v2.0/" + path, err: err}
	}
	return nil
}

// Error is a request that Neutron has not done.
type Error struct {
	Method, Path string
	err          error
}

// Error names the request, and gives Neutron's own words.
func (e *Error) Error() string {
	return fmt.Sprintf("Neutron: %s %s: %s", e.Method, e.Path, e.reason())
}

// Unwrap gives the error of the request.
func (e *Error) Unwrap() error { return e.err }

// status is the HTTP status of a refusal, 0 for a request without an answer.
func (e *Error) status() int {
	var code gophercloud.ErrUnexpectedResponseCode
	if errors.As(e.err, &code) {
		return code.Actual
	}
	return 0
}

// Permanent reports whether Neutron would answer another try the same: it refuses the request, or lacks the named
// object.
func (e *Error) Permanent() bool {
	switch status := e.status(); status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
		return true
	}
	return false
}

// maxWords bounds the quoted part of an answer, in bytes.
const maxWords = 400

func (e *Error) reason() string {
	var code gophercloud.ErrUnexpectedResponseCode
	if !errors.As(e.err, &code) {
		return e.err.Error()
	}
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"NeutronError"`
	}
	said := ""
	if json.Unmarshal(code.Body, &body) == nil && body.Error.Message != "" {
		said = ": " + strings.ToValidUTF8(nodeapi.Printable(body.Error.Message[:min(len(body.Error.Message), maxWords)]), "")
	}
	return fmt.Sprintf("%d %s%s", code.Actual, http.StatusText(code.Actual), said)
}

// gone reports whether Neutron lacks the object that a request names.
func gone(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.status() == http.StatusNotFound
}

// refused reports whether Neutron has answered that it does not do a request. Without an answer, or with one of its own
// failure or of a proxy's, it may have done it.
func refused(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.status() >= http.StatusBadRequest && e.status() < http.StatusInternalServerError &&
		e.status() != http.StatusRequestTimeout
}

// find is the UUID of an object by its name or UUID; kind is networks or security-groups. Of several with the same name
// it is the object of the service user's project: other projects may use any name.
func (c *Client) find(ctx context.Context, kind, named string) (string, error) {
	if uuid.Validate(named) == nil {
		return named, nil
	}
	type candidate struct {
		ID      string `json:"id"`
		Project string `json:"project_id"`
	}
	found := map[string][]candidate{}
	query := url.Values{"name": {named}, "fields": {"id", "project_id"}}
	if err := c.call(ctx, http.MethodGet, kind, query, nil, &found); err != nil {
		return "", err
	}
	all := found[strings.ReplaceAll(kind, "-", "_")]
	there := len(all)
	if there > 1 {
		own, err := c.project(ctx)
		if err != nil {
			return "", err
		}
		all = slices.DeleteFunc(all, func(one candidate) bool { return own == "" || one.Project != own })
	}
	if len(all) != 1 {
		return "", node.Refuse(node.Invalid, "Neutron has %d %s with the name %q, expected one, or one in the project of "+
			"the service user: name it by its UUID", there, strings.ReplaceAll(kind, "-", " "), named)
	}
	return all[0].ID, nil
}

// project is the project of the service user, "" where Neutron asks for no token.
func (c *Client) project(ctx context.Context) (string, error) {
	s, err := c.Service(ctx)
	if err != nil {
		return "", fmt.Errorf("network service: %w", err)
	}
	token, ok := s.GetAuthResult().(tokens.CreateResult)
	if !ok {
		return "", nil
	}
	of, err := token.ExtractProject()
	if err != nil || of == nil {
		return "", err
	}
	return of.ID, nil
}

// By is the Neutron that a cloud's catalogue names, for Config.Service.
func By(catalogue func(ctx context.Context, kind string) (*gophercloud.ServiceClient, error),
) func(context.Context) (*gophercloud.ServiceClient, error) {
	return func(ctx context.Context) (*gophercloud.ServiceClient, error) { return catalogue(ctx, "network") }
}
