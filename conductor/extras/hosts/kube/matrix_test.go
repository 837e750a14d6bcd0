package kube_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/kube"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
)

// discovered is a resource as discovery names it.
type discovered struct {
	Name       string
	Namespaced bool
	Verbs      []string
}

// attempt is a request for a verb of a resource, with a document that need not exist: a refusal for lack of a role
// shows all the same.
func (d discovered) attempt(group, verb string) (request, body string) {
	plural, sub, _ := strings.Cut(d.Name, "/")
	path := group
	if d.Namespaced {
		path += "/namespaces/metal3"
	}
	path += "/" + plural
	named := path + "/none"
	if sub != "" {
		named += "/" + sub
	}
	switch verb {
	case "create":
		return "POST " + path, "{}"
	case "deletecollection":
		return "DELETE " + path + "?labelSelector=none%3Dnone", ""
	case "list":
		return "GET " + path, ""
	case "watch":
		return "GET " + path + "?watch=true&resourceVersion=0&timeoutSeconds=1", ""
	case "get":
		return "GET " + named, ""
	case "update":
		return "PUT " + named, "{}"
	case "patch":
		return "PATCH " + named + asMerge, "{}"
	}
	return "DELETE " + named, ""
}

// TestAccessMatrix asks for every verb of every resource in discovery, as every kind of caller. The golden file is to
// be read: a letter for a caller without a login, and one each for the system's and a project's reader, operator and
// admin.
func TestAccessMatrix(t *testing.T) {
	synctest.Test(t, accessMatrix) // watches end after a second
}

func accessMatrix(t *testing.T) {
	s := start(t, func(o *kube.Options, _ *objects.Config) { o.Auth = byName{} })
	letter := func(who, request, body string) string {
		switch w := s.send(request+"\nAuthorization: "+who, body); w.Code {
		case http.StatusUnauthorized:
			return "?"
		case http.StatusForbidden:
			return "n"
		default:
			return "y"
		}
	}
	var out strings.Builder
	out.WriteString("# y yes, n 403, ? 401; for reader, operator, admin\n")
	fmt.Fprintf(&out, "%-60s %s  %-6s  %s\n", "#", "stranger", "system", "project")
	row := func(name, request, body string) {
		letters := map[string]string{}
		for _, of := range []string{"", " of p"} {
			for _, role := range []string{"reader", "operator", "admin"} {
				letters[of] += letter(role+of, request, body)
			}
		}
		fmt.Fprintf(&out, "%-60s %-8s  %-6s  %s\n", name, letter("", request, body), letters[""], letters[" of p"])
	}
	for _, path := range []string{"/version", "/healthz", "/livez", "/readyz", "/api", "/apis", "/openapi/v2",
		"/openapi/v3"} {
		row("GET "+path, "GET "+path, "")
	}
	for _, group := range []string{"/api/v1", "/apis/metal3.io/v1alpha1"} {
		var kept struct{ Resources []discovered }
		if err := json.Unmarshal([]byte(s.ok(http.StatusOK, "GET "+group+"\nAuthorization: reader", "")), &kept); err != nil {
			t.Fatal(err)
		}
		if len(kept.Resources) < 3 {
			t.Fatalf("%s tells of %d resources", group, len(kept.Resources))
		}
		for _, d := range kept.Resources {
			slices.Sort(d.Verbs)
			for _, verb := range d.Verbs {
				request, body := d.attempt(group, verb)
				row(d.Name+" "+verb, request, body)
			}
		}
	}
	golden(t, filepath.Join("testdata", "access.txt"), out.String())
}
