package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Routes is the route table, as the policy names its rows.
func (a *API) Routes() (keys []string) {
	for _, r := range a.routes() {
		keys = append(keys, auth.Key(r.Method, r.Path, ""))
	}
	return keys
}

// Rows is the route table with the agents' endpoints, each with the fields of its body: nil without a body, empty for a
// body without named fields.
func (a *API) Rows(mounts map[string]rest.Handler) map[string][]string {
	rows := map[string][]string{}
	for _, r := range append(a.routes(), agentRows(mounts)...) {
		var fields []string
		if r.Wire.Takes != nil {
			properties, _ := r.Wire.Takes["properties"].(rest.Schema)
			fields = append([]string{}, rest.SortedKeys(properties)...)
		}
		rows[r.Method+" "+r.Path] = fields
	}
	return rows
}

// Unrouted is the prefixes at which something is mounted that no row is about.
func (a *API) Unrouted(mounts map[string]rest.Handler) (prefixes []string) {
	for prefix := range mounts {
		found := false
		for _, r := range agentRows(mounts) {
			found = found || strings.HasPrefix(r.Path, prefix)
		}
		if !found {
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes
}

// Endless is the paths of the routes that answer without an end.
func (a *API) Endless() (paths []string) {
	for _, r := range a.routes() {
		follows := slices.ContainsFunc(r.Wire.Query, func(q rest.Argument) bool { return q.Name == "follow" })
		if follows || r.Wire.Status == http.StatusSwitchingProtocols || r.Wire.Media == nodeapi.MediaEvents {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// Lists is the paths of all lists that are answered by pages.
func (a *API) Lists() (paths []string) {
	for _, r := range a.routes() {
		if r.Method == http.MethodGet && r.Wire.Pages() {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// FreeFields is the fields of any form that a POST takes, by its row.
func (a *API) FreeFields() map[string][]string {
	free := map[string][]string{}
	for _, r := range a.routes() {
		properties, _ := r.Wire.Takes["properties"].(rest.Schema)
		for name, of := range properties {
			form, _ := of.(rest.Schema)
			types, _ := form["type"].([]string)
			if r.Method == http.MethodPost && slices.Contains(types, "object") && form["properties"] == nil {
				free[r.Method+" "+r.Path] = append(free[r.Method+" "+r.Path], name)
			}
		}
	}
	return free
}
