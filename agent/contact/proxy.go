package contact

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// proxies are the ways of one image's download.
type proxies struct {
	of     map[string]*url.URL // by the scheme of a request
	direct []string            // hosts that are reached without one
}

type proxiesKey struct{}

// WithProxies has the requests of an image client with this context go through the proxies of an image
// (driver_info/image_http_proxy of a node, and its siblings). The context is unchanged for an image without proxies.
func WithProxies(ctx context.Context, info agentapi.ImageInfo) (context.Context, error) {
	if len(info.Proxies) == 0 {
		return ctx, nil
	}
	p := &proxies{of: map[string]*url.URL{}}
	for scheme, at := range info.Proxies {
		if !strings.Contains(at, "://") { // which Ironic takes
			at = "http://" + at
		}
		u, err := url.Parse(at)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return ctx, fmt.Errorf("the proxy for %s is not a URL such as http://192.0.2.1:3128", scheme)
		}
		p.of[scheme] = u
	}
	for host := range strings.SplitSeq(info.NoProxy, ",") {
		if host = strings.ToLower(strings.TrimSpace(host)); host != "" {
			p.direct = append(p.direct, host)
		}
	}
	return context.WithValue(ctx, proxiesKey{}, p), nil
}

// proxy finds the proxy of a request. The conductor is always reached directly: it serves on the machine's own network,
// and its certificate is pinned.
func (o Options) proxy(r *http.Request) (*url.URL, error) {
	p, _ := r.Context().Value(proxiesKey{}).(*proxies)
	if p == nil || o.isConductor(r.URL.Hostname()) ||
		slices.ContainsFunc(p.direct, func(host string) bool { return reachesDirectly(host, r.URL) }) {
		return nil, nil
	}
	return p.of[r.URL.Scheme], nil
}

func (o Options) isConductor(host string) bool {
	return slices.ContainsFunc(o.URLs, func(at string) bool {
		u, err := url.Parse(at)
		return err == nil && u.Hostname() == host
	})
}

// reachesDirectly reports whether an entry of no_proxy is for a URL: a host, a domain with all its hosts, an address or
// a network of addresses.
func reachesDirectly(entry string, u *url.URL) bool {
	if entry == "*" {
		return true
	}
	host := strings.ToLower(u.Hostname())
	if addr, err := netip.ParseAddr(host); err == nil {
		if network, err := netip.ParsePrefix(entry); err == nil {
			return network.Contains(addr)
		}
		if own, err := netip.ParseAddr(entry); err == nil {
			return own == addr
		}
	}
	if name, port, err := net.SplitHostPort(entry); err == nil {
		if port != portOf(u) {
			return false
		}
		entry = name
	}
	entry = strings.TrimPrefix(entry, ".")
	return host == entry || strings.HasSuffix(host, "."+entry)
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// throughProxy is the TLS configuration for connections within a proxy's, which have no configuration for their host.
func throughProxy(conf func(host string) *tls.Config) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection does it
		VerifyConnection: func(s tls.ConnectionState) error {
			c := conf(s.ServerName)
			switch {
			case c.VerifyConnection != nil && s.ServerName != "":
				return c.VerifyConnection(s)
			case c.VerifyConnection == nil && c.InsecureSkipVerify:
				return nil
			case s.ServerName == "": // TLS has no names that are addresses
				return errors.New("the certificate of a server that is named by its address cannot be checked through a " +
					"proxy: use its host name, or list the address in image_no_proxy")
			}
			return checkRoots(s.PeerCertificates, s.ServerName, c.RootCAs)
		},
	}
}
