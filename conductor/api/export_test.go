package api

import "github.com/ferrite-metal/ferrite/conductor/auth"

// Routes is the route table, as the policy names its rows.
func (a *API) Routes() (keys []string) {
	for _, r := range a.routes() {
		keys = append(keys, auth.Key(r.method, r.path, ""))
	}
	return keys
}
