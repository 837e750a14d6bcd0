package glance

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
)

// signer shows the service user's token. Keystone's tokens last an hour or less, and an image may take longer: a
// request that is refused for its token is sent again with a new one.
type signer struct{ *Client }

// RoundTrip is of http.RoundTripper.
func (s signer) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.o.Cloud == nil {
		return s.o.Transport.RoundTrip(r) //nolint:wrapcheck // the transport's own
	}
	resp, shown, err := s.send(r)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	_ = resp.Body.Close() // it says no more than the status
	p, err := s.provider(r.Context())
	if err != nil {
		return nil, err
	}
	if err := p.Reauthenticate(r.Context(), shown); err != nil {
		return nil, fmt.Errorf("a new token for Glance: %w", err)
	}
	resp, _, err = s.send(r)
	return resp, err
}

// send sends a request once, with the present token.
func (s signer) send(r *http.Request) (resp *http.Response, shown string, err error) {
	p, err := s.provider(r.Context())
	if err != nil {
		return nil, "", err
	}
	shown = p.Token()
	signed := r.Clone(r.Context())
	signed.Header.Set("X-Auth-Token", shown)
	resp, err = s.o.Transport.RoundTrip(signed)
	return resp, shown, err //nolint:wrapcheck // the transport's own
}

func (s signer) provider(ctx context.Context) (*gophercloud.ProviderClient, error) {
	service, err := s.o.Cloud.Service(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("a token for Glance: %w", err)
	}
	return service.ProviderClient, nil
}

// refuseRedirect follows none: the request holds a token in a header of its own, which net/http would take along to
// another host.
func refuseRedirect(r *http.Request, _ []*http.Request) error {
	return refused(errors.New("Glance sends requests on to " + r.URL.Host + ": give the URL that answers itself"))
}
