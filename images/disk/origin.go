package disk

import (
	"errors"
	"net/http"
	"net/url"
)

// maxRedirects is net/http's limit.
const maxRedirects = 10

// ownOrigin is a client that sends an Authorization to its own origin only. net/http sends it to any port of the host
// and to hosts below it too. A registry may keep its blobs there, in an object store with signed URLs. Such a store
// refuses a request with two credentials (Azure/acr#217). A client with rules of its own for redirects keeps them.
func ownOrigin(client *http.Client) *http.Client {
	if client.CheckRedirect != nil {
		return client
	}
	own := *client
	own.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return errors.New("stopped after 10 redirects")
		}
		if from := via[0].URL; origin(from) != origin(r.URL) && !upgraded(from, r.URL) {
			r.Header.Del("Authorization")
		}
		return nil
	}
	return &own
}

// origin is scheme, host and port (RFC 6454, section 4).
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + u.Hostname() + ":" + port
}

// upgraded reports a redirect from http to https of the same server.
func upgraded(from, to *url.URL) bool {
	return origin(from) == "http://"+to.Hostname()+":80" && origin(to) == "https://"+to.Hostname()+":443"
}
