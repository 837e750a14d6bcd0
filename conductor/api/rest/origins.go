package rest

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Origins is the origin of a URL as browsers send it (RFC 6454, 6.2); none without a scheme and a host.
func Origins(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return nil
	}
	return []string{u.Scheme + "://" + u.Host}
}

// strictTime is how long a browser continues with https alone. It is short: there is no way back before it is over.
const strictTime = "max-age=86400"

// protect adds headers for browsers to an answer. HSTS (RFC 6797) is sent only where an operator has named the public
// URL. It covers all ports of a host name, among them our own metrics and boot files, which have no TLS. And browsers
// would refuse for good a self-signed certificate that is put in later.
func (s *Server) protect(h http.Header) {
	h["X-Content-Type-Options"] = []string{"nosniff"}
	if strings.HasPrefix(s.public, "https://") {
		h["Strict-Transport-Security"] = []string{strictTime}
	}
}

// Downgraded reports whether a page that was loaded without TLS sends a request to a conductor with TLS. An attacker on
// the way can change such a page. Checks of the origin compare its host alone, and older browsers send nothing else.
func (s *Server) Downgraded(r *http.Request) bool {
	origin := strings.ToLower(r.Header.Get("Origin"))
	return r.TLS != nil && strings.HasPrefix(origin, "http://") && !slices.Contains(Origins(s.public), origin)
}

var errPlainPage = errors.New("the page was loaded without TLS")

// foreign refuses a request that changes something and that a browser sends for a
// page of another site: browsers add credentials of basic authentication by
// themselves (CSRF). It reports whether the request was refused. Clients that are no
// browsers send neither Sec-Fetch-Site nor Origin, and are not affected.
func (s *Server) foreign(w http.ResponseWriter, r *http.Request) bool {
	err := s.origins.Check(r)
	if err == nil && r.Method != http.MethodGet && r.Method != http.MethodHead && s.Downgraded(r) {
		err = errPlainPage
	}
	if err == nil {
		return false
	}
	s.strange.Info("request of another site's page refused", "method", r.Method, "path", r.URL.Path, "origin",
		r.Header.Get("Origin"))
	fault := nodeapi.NewFault(http.StatusForbidden,
		"Requests that change something are not taken from pages of other sites (%s); send them with a client that "+
			"is no browser", err)
	if err := fault.Write(w); err != nil {
		s.Log.Debug("client gone before its answer", "path", r.URL.Path, "err", err)
	}
	return true
}
