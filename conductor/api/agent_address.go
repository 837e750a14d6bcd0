package api

import (
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// OnlyAgents serves the agents' endpoints of an API, and the two pages from which their clients learn its versions
// (ironic-python-agent reads GET /v1 first). All else is not there: a machine reaches no more of the API.
func OnlyAgents(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		root := strings.TrimRight(r.URL.Path, "/")
		if ofAgents(root) || r.Method == http.MethodGet && (root == "" || root == nodeapi.Root) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Connection", "close")
		_ = nodeapi.Routing(http.StatusNotFound, "").Write(w) // a client that has gone
	})
}

// WithoutAgents refuses the agents' endpoints of an API, which are at an address of their own. Ironic answers alike
// with [api]enable_ramdisk_endpoints off.
func WithoutAgents(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ofAgents(strings.TrimRight(r.URL.Path, "/")) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Connection", "close") // its body is not read
		_ = nodeapi.NewFault(http.StatusForbidden, "Access was denied to the following resource: %.100s. Agents have an "+
			"address of their own here: boot their ramdisk anew.", r.URL.Path).Write(w) // a client that has gone
	})
}

// ofAgents reports whether a path leads to an agents' endpoint, with the /v1 that older clients leave out, too.
func ofAgents(path string) bool { return stranger(path) || stranger(nodeapi.Root+path) }
