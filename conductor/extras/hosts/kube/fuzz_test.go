package kube_test

import (
	"net/http"
	"strings"
	"testing"
)

// fine fails on answers that say that something is wrong with the server.
func fine(t *testing.T, s *server, code int, body string) {
	t.Helper()
	if code >= http.StatusInternalServerError || s.log.Len() > 0 {
		t.Fatalf("answered %d: %s, logged %s", code, body, &s.log)
	}
}

// TestAliases: a body with aliases that repeat a long word many times is refused.
func TestAliases(t *testing.T) {
	s := start(t)
	body := "a: &x " + strings.Repeat("w", 100_000) + "\nb: [" + strings.Repeat("*x, ", 100_000) + "]\n"
	if w := s.send("POST "+hosts+"\nContent-Type: application/yaml", body); w.Code != http.StatusBadRequest ||
		!strings.Contains(w.Body.String(), "aliases") {
		t.Errorf("answered %d: %.200s", w.Code, w.Body)
	}
}

// FuzzDocument sends documents, and follows an accepted one to its end.
func FuzzDocument(f *testing.F) {
	for _, seed := range []string{
		aHost, aSecret, `{"metadata":{"name":"a","finalizers":["a/b"],"ownerReferences":[{"uid":"1"}]}}`,
		`{"metadata":null,"spec":[]}`, `[`, "a: b", "a: &a [*a]",
		`{"metadata":{"name":"a","annotations":{"reboot.metal3.io":"{\"mode\":\"hard\"}","inspect.metal3.io/hardwaredetails":"{}"}},"spec":{"inspectionMode":"disabled"}}`,
		`{"metadata":{"name":"a","creationTimestamp":"x"},"data":{"a":1}}`, `{"metadata":{"generateName":"A b"}}`,
		`{"metadata":{"name":"a"},"spec":{"settings":{"A":true},"updates":[{}],"schema":{"A":{"unique":1}}}}`,
		`{"metadata":{"name":"a"},"spec":{"settings":{"A":5},"updates":[],"schema":{"A":{}}},"status":{"settings":{}}}`,
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, body string, yaml bool) {
		s := start(t)
		form := ""
		if yaml {
			form = "\nContent-Type: application/yaml"
		}
		for _, path := range []string{hosts, secrets, "/api/v1/namespaces", wishes, updates, schemas, policies} {
			w := s.send("POST "+path+form, body)
			fine(t, s, w.Code, w.Body.String())
			w = s.send("PUT "+path+"/a"+form, body)
			fine(t, s, w.Code, w.Body.String())
			w = s.send("GET "+path+asTable, "")
			fine(t, s, w.Code, w.Body.String())
			w = s.send("DELETE "+path+form, body)
			fine(t, s, w.Code, w.Body.String())
		}
	})
}

// FuzzPatch sends patches of every form.
func FuzzPatch(f *testing.F) {
	for _, steps := range exchanges() {
		for _, st := range steps {
			if strings.HasPrefix(st.request, "PATCH") {
				f.Add(st.body)
			}
		}
	}
	f.Add(`[{"op":"copy","from":"","path":"/metadata/labels"},{"op":"move","from":"/spec","path":"/spec/x"}]`)
	f.Add(`{"metadata":{"ownerReferences":[null,{"uid":{}}],"finalizers":{}}}`)
	f.Fuzz(func(t *testing.T, body string) {
		s := start(t)
		s.ok(http.StatusCreated, "POST "+hosts, aHost)
		s.ok(http.StatusCreated, "POST "+secrets, aSecret)
		for _, form := range []string{asJSON, asMerge, strategic} {
			for _, path := range []string{hosts + "/node-0", hosts + "/node-0/status", secrets + "/node-0-bmc",
				"/api/v1/namespaces/metal3"} {
				w := s.send("PATCH "+path+form, body)
				fine(t, s, w.Code, w.Body.String())
			}
		}
	})
}
