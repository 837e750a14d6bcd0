package kube_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/kube"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// byName believes a request's own words: "operator", or "operator of p".
type byName struct{}

func (byName) Authenticate(w http.ResponseWriter, r *http.Request) (*auth.Caller, error) {
	name, project, _ := strings.Cut(r.Header.Get("Authorization"), " of ")
	role, err := auth.ParseRole(name)
	if err != nil {
		w.Header().Set("WWW-Authenticate", "Basic")
		return nil, nodeapi.NewFault(http.StatusUnauthorized, "Authorization required")
	}
	return &auth.Caller{User: name, Role: role, Project: project}, nil
}

// TestAccess: readers see all but secrets, operators write, projects have no
// hosts, and strangers hear no more than that the conductor lives.
func TestAccess(t *testing.T) {
	s := start(t, func(o *kube.Options, _ *objects.Config) { o.Auth = byName{} })
	const named = hosts + "/node-0"
	for _, c := range []struct{ request, body, stranger, reader, operator, project string }{
		{"GET /version", "", "200", "200", "200", "200"},
		{"GET /healthz", "", "200", "200", "200", "200"},
		{"GET /api", "", "401", "200", "200", "200"},
		{"GET /openapi/v2", "", "401", "200", "200", "200"},
		{"POST " + hosts, aHost, "401", "403", "201", "403"},
		{"POST " + secrets, aSecret, "401", "403", "201", "403"},
		{"GET " + hosts, "", "401", "200", "200", "403"},
		{"GET " + named, "", "401", "200", "200", "403"},
		{"GET " + hosts + "?watch=true&resourceVersion=1&timeoutSeconds=1", "", "401", "200", "200", "403"},
		{"GET " + secrets, "", "401", "403", "200", "403"},
		{"GET " + secrets + asTable, "", "401", "403", "200", "403"},
		{"GET " + secrets + "/none", "", "401", "403", "404", "403"},
		{"GET /api/v1/namespaces", "", "401", "200", "200", "403"},
		{"GET /api/v1/events", "", "401", "200", "200", "403"},
		{"PUT " + named, aHost, "401", "403", "422", "403"},
		{"PATCH " + named + asMerge, "{}", "401", "403", "200", "403"},
		{"PATCH " + named + "/status" + asMerge, "{}", "401", "403", "200", "403"},
		{"DELETE " + secrets, "", "401", "403", "200", "403"},
		{"DELETE " + named, "", "401", "403", "200", "403"},
	} {
		for who, want := range map[string]string{"": c.stranger, "reader": c.reader, "admin of p": c.project} {
			if w := s.send(c.request+"\nAuthorization: "+who, c.body); http.StatusText(w.Code) == "" || want != codeOf(w.Code) {
				t.Errorf("%q: %s answers %d, want %s: %s", who, c.request, w.Code, want, w.Body)
			}
		}
		if w := s.send(c.request+"\nAuthorization: operator", c.body); codeOf(w.Code) != c.operator {
			t.Errorf("operator: %s answers %d, want %s: %s", c.request, w.Code, c.operator, w.Body)
		}
	}
	body := s.ok(http.StatusForbidden, "GET "+secrets+"\nAuthorization: reader", "")
	if want := `secrets is forbidden: User \"reader\" cannot list resource \"secrets\" in API group \"\" in the namespace \"metal3\"`; !strings.Contains(body, want) {
		t.Errorf("told %s", body)
	}
}

func codeOf(n int) string {
	return string([]byte{byte('0' + n/100), byte('0' + n/10%10), byte('0' + n%10)})
}
