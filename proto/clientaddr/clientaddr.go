// Package clientaddr finds the client of a request: the peer of its connection, or the client that a trusted proxy
// names. Handlers ask it, and do not read a request's RemoteAddr themselves.
package clientaddr

import (
	"net/http"
	"net/netip"
)

// Of is the address of a request's client, the zero Addr where that is not TCP. Behind connlimit.LimitAnd with proxies
// it is the client's that these name.
func Of(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}
