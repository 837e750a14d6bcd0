package api

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/server/ratelimit"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// OnlyHosts answers 421 (RFC 9110, 15.5.20) to requests for a Host that is neither an IP address nor localhost nor one
// of names. In DNS rebinding a site's name is made to resolve to this computer. Its page then sends the site's Host,
// and the browser takes both for one site. So the page could use a conductor without logins. Clients without a Host
// (HTTP/1.0) are no browsers.
func OnlyHosts(names []string, next http.Handler, log *slog.Logger) http.Handler {
	allowed := []string{"", "localhost"}
	for _, n := range names {
		allowed = append(allowed, hostName(n))
	}
	lines := ratelimit.NewLines(log, time.Now)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := hostName(r.Host)
		if _, err := netip.ParseAddr(name); err == nil || slices.Contains(allowed, name) {
			next.ServeHTTP(w, r)
			return
		}
		lines.Info("request for a Host that is not allowed refused", "host", name, "from", clientaddr.Of(r).String())
		w.Header().Set("Connection", "close")
		_ = nodeapi.NewFault(http.StatusMisdirectedRequest, "With --auth none this conductor answers to IP addresses, to "+
			"localhost and to the names in its settings, not to %.100q. If that is its name, start it with --allowed-host, "+
			"--advertise-url or --public-url; or have operators log in.", name).Write(w) // a client that has gone
	})
}

// hostName is the host of an authority (name, name:port, [::1]:port), in lower case and without the dot of the root.
func hostName(authority string) string {
	host, _, err := net.SplitHostPort(authority)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(authority, "["), "]")
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}
