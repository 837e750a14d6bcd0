package clientaddr

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"

	"github.com/pires/go-proxyproto"
)

// Proxies are the networks of trusted proxies. It implements connlimit.Proxies.
type Proxies []netip.Prefix

// Trusts reports whether an address is a proxy's.
func (p Proxies) Trusts(from netip.Addr) bool {
	from = from.Unmap().WithZone("")
	return slices.ContainsFunc(p, func(of netip.Prefix) bool { return of.Contains(from) })
}

// Connection reads a header of the PROXY protocol, version 1 or 2, if there is one
// (https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt). A proxy's own connection (LOCAL), UNKNOWN and a socket
// of its host (AF_UNIX) name no client, the zero AddrPort: for these the address is the proxy's (2.1, 2.2).
func (p Proxies) Connection(r *bufio.Reader) (client netip.AddrPort, header bool, err error) {
	h, err := proxyproto.Read(r)
	if errors.Is(err, proxyproto.ErrNoProxyProtocol) {
		return client, false, nil
	}
	if err != nil {
		return client, true, err
	}
	if from, ok := h.SourceAddr.(*net.TCPAddr); ok && !h.Command.IsLocal() {
		at := from.AddrPort()
		client = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	}
	return client, true, nil
}

// Request believes the headers of a proxy: the client is the right-most address that is no proxy's, since all before
// that are the client's own words. A proxy often passes on the header that it does not write itself, so two headers
// must name the same client.
func (p Proxies) Request(r *http.Request) (*http.Request, error) {
	if !p.Trusts(Of(r)) {
		return r, nil
	}
	if err := errors.Join(bounded(r.Header, "Forwarded"), bounded(r.Header, "X-Forwarded-For")); err != nil {
		return r, err
	}
	forwarded, err := parseForwarded(r.Header["Forwarded"])
	if err != nil {
		return r, fmt.Errorf("the header Forwarded is not of RFC 7239: %w", err)
	}
	old := parseXForwarded(r.Header["X-Forwarded-For"])
	named, x := p.client(forwarded), p.client(old)
	switch {
	case len(forwarded) == 0:
		named = x
	case len(old) > 0 && named.addr != x.addr:
		return r, fmt.Errorf("the headers Forwarded (%v) and X-Forwarded-For (%v) name different clients: have the proxy "+
			"remove the other one", named.addr, x.addr)
	}
	if protos := r.Header["X-Forwarded-Proto"]; named.proto == "" && len(protos) > 0 {
		named.proto = lastOf(protos)
	}
	with := *r
	if named.addr.IsValid() {
		with.RemoteAddr = netip.AddrPortFrom(named.addr, named.port).String()
	}
	switch {
	case named.proto == "http":
		with.TLS = nil
	case named.proto == "https" && r.TLS == nil:
		with.TLS = &tls.ConnectionState{} // of the client's connection to the proxy, of which no more is known
	}
	return &with, nil
}

// client is the hop of the client, with the zero address where no proxy names any.
func (p Proxies) client(hops []hop) (named hop) {
	for _, h := range slices.Backward(hops) {
		if h.proto != "" {
			named.proto = h.proto
		}
		if !h.addr.IsValid() { // unknown, or hidden: the last proxy that is known stands for it
			break
		}
		if named.addr, named.port = h.addr, h.port; !p.Trusts(h.addr) {
			break
		}
	}
	return named
}
