package kube_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/kube"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
)

// TestMaskedForReaders: credentials in URLs of hosts and data images, and in the annotation of kubectl apply, are shown
// to callers that write documents and to no reader.
func TestMaskedForReaders(t *testing.T) {
	s := start(t, func(o *kube.Options, _ *objects.Config) { o.Auth = byName{} })
	as := func(who, request string) string { return request + "\nAuthorization: " + who }
	const (
		images = "/apis/metal3.io/v1alpha1/namespaces/metal3/dataimages"
		image  = `{"url":"http://user:planted@h/os.raw?X-Amz-Signature=planted&b=c","checksum":"http://user:planted@h/sums"}`
	)
	s.ok(http.StatusCreated, as("operator", "POST "+hosts),
		`{"metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"spec\":{\"image\":{\"url\":\"http://user:planted@h/os.raw?X-Amz-Signature=planted\"}}}"}},"spec":{"online":true,"image":`+image+`}}`)
	s.ok(http.StatusCreated, as("operator", "POST "+images),
		`{"metadata":{"name":"a"},"spec":{"url":"http://user:planted@h/a.iso"}}`)
	for _, request := range []string{
		"GET " + hosts + "/a", "GET " + hosts, "GET " + hosts + "?watch=true&timeoutSeconds=1", "GET " + hosts + asTable,
		"GET " + hosts + "/a\nAccept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
		"GET " + images + "/a", "GET " + images, "GET " + images + "?watch=true&timeoutSeconds=1",
	} {
		if body := s.ok(http.StatusOK, as("reader", request), ""); strings.Contains(body, "planted") {
			t.Errorf("a reader's %s: %s", request, body)
		}
	}
	for _, request := range []string{"GET " + hosts + "/a", "GET " + images + "/a"} {
		if body := s.ok(http.StatusOK, as("operator", request), ""); !strings.Contains(body, "planted") ||
			strings.Contains(body, "******") {
			t.Errorf("an operator's %s: %s", request, body)
		}
	}
}

// TestWatchesApart: watches of one write share the common lines, and nothing else. In any order, a reader does not get
// hidden parts, another form, or another type of event.
func TestWatchesApart(t *testing.T) {
	const url = hosts + "?watch=true&timeoutSeconds=1&resourceVersion=3"
	requests := map[string]struct {
		request  string
		is, isNo []string
	}{
		"operator": {"GET " + url + "\nAuthorization: operator", []string{`{"type":"MODIFIED"`, "planted"},
			[]string{"******"}},
		"reader": {"GET " + url + "\nAuthorization: reader", []string{`{"type":"MODIFIED"`, "******"},
			[]string{"planted"}},
		"label": {"GET " + url + "&labelSelector=b%3Dc\nAuthorization: operator", []string{`{"type":"ADDED"`, "planted"},
			[]string{"MODIFIED"}},
		"table": {
			"GET " + url + asTable + "\nAuthorization: operator", []string{`"kind":"Table"`, "PartialObjectMetadata"},
			[]string{"planted"},
		},
		"whole rows": {"GET " + url + "&includeObject=Object" + asTable + "\nAuthorization: operator",
			[]string{`"kind":"Table"`, "planted"}, []string{"PartialObjectMetadata"}},
		"mere rows": {"GET " + url + "&includeObject=None" + asTable + "\nAuthorization: operator",
			[]string{`"kind":"Table"`}, []string{"metadata.name", "planted", `"object":{"kind":"Partial`}},
		"metadata": {
			"GET " + url + "\nAccept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1\nAuthorization: operator",
			[]string{"PartialObjectMetadata"}, []string{"planted", "Table"},
		},
	}
	for first := range requests {
		synctest.Test(t, func(t *testing.T) {
			s := start(t, func(o *kube.Options, _ *objects.Config) { o.Auth = byName{} })
			s.ok(http.StatusCreated, "POST "+hosts+"\nAuthorization: operator",
				`{"metadata":{"name":"a"},"spec":{"online":true,"image":{"url":"http://user:planted@h/os.raw","checksum":"http://h/sums"}}}`)
			s.ok(http.StatusOK, "PATCH "+hosts+"/a"+asMerge+"\nAuthorization: operator", `{"metadata":{"labels":{"b":"c"}}}`)
			s.ok(http.StatusOK, requests[first].request, "")
			for name, r := range requests {
				body := s.ok(http.StatusOK, r.request, "")
				if strings.Count(body, "\n") != 1 {
					t.Errorf("%s after %s is told of %q", name, first, body)
				}
				for _, is := range r.is {
					if !strings.Contains(body, is) {
						t.Errorf("%s after %s is told nothing of %s: %s", name, first, is, body)
					}
				}
				for _, isNo := range r.isNo {
					if strings.Contains(body, isNo) {
						t.Errorf("%s after %s is told of %s: %s", name, first, isNo, body)
					}
				}
			}
		})
	}
}
