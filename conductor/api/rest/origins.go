package rest

import (
	"net/http"
	"net/url"

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

// foreign refuses a request that changes something and that a browser sends for a
// page of another site: browsers add credentials of basic authentication by
// themselves (CSRF). It reports whether the request was refused. Clients that are no
// browsers send neither Sec-Fetch-Site nor Origin, and are not affected.
func (s *Server) foreign(w http.ResponseWriter, r *http.Request) bool {
	err := s.origins.Check(r)
	if err == nil {
		return false
	}
	s.Log.Info("request of another site's page refused", "method", r.Method, "path", r.URL.Path, "origin",
		r.Header.Get("Origin"))
	fault := nodeapi.NewFault(http.StatusForbidden,
		"Requests that change something are not taken from pages of other sites (%s); send them with a client that "+
			"is no browser", err)
	if err := fault.Write(w); err != nil {
		s.Log.Debug("client gone before its answer", "path", r.URL.Path, "err", err)
	}
	return true
}
