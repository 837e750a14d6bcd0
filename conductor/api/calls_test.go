package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// remembered is calls to every node, and users.
type remembered struct{}

func (remembered) Calls(uuid string) []nodeapi.Call {
	return []nodeapi.Call{{ID: 3, At: time.Unix(1e9, 0).UTC(), Seconds: 0.25, Protocol: "redfish",
		Name: "GET /redfish/v1", Server: "https://10.0.0.1", Status: 200, Effect: "power.power_off " + uuid}}
}

func (remembered) Listed() nodeapi.Users {
	return nodeapi.Users{Users: []nodeapi.User{{Name: "alice", Role: "admin", Tokens: []nodeapi.UserToken{}}},
		Ways: []string{"basic"}, Roles: true}
}

func TestCallsAndUsers(t *testing.T) {
	with := newAtWork(t, func(o *api.Options) { o.Calls, o.Users = remembered{}, remembered{} })
	without := newAtWork(t, func(*api.Options) {})
	for _, test := range []struct {
		h      http.Handler
		path   string
		status int
		says   string
	}{
		{with.api, "/nodes/" + with.node.UUID + "/calls", 200, `"name":"GET /redfish/v1"`},
		{with.api, "/nodes/" + with.node.UUID + "/calls", 200, `"effect":"power.power_off ` + with.node.UUID},
		{with.api, "/nodes/nobody/calls", 404, "could not be found"},
		{with.api, "/nodes/" + with.node.UUID + "/calls?limit=1", 400, "limit"},
		{without.api, "/nodes/" + without.node.UUID + "/calls", 200, `"calls":[]`},
		{with.api, "/users", 200, `"name":"alice","role":"admin"`},
		{with.api, "/users?role=admin", 400, "role"},
		{without.api, "/users", 200, `{"users":[],"ways":[],"roles":false}`},
	} {
		rec := httptest.NewRecorder()
		test.h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, nodeapi.FerriteRoot+test.path, nil))
		if rec.Code != test.status || !strings.Contains(rec.Body.String(), test.says) || !json.Valid(rec.Body.Bytes()) {
			t.Errorf("%s answers %d %s, want %d with %s", test.path, rec.Code, rec.Body, test.status, test.says)
		}
	}
}
