package kube_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/host/kube"
	"github.com/ferrite-metal/ferrite/conductor/host/objects"
)

// TestMaskedForReaders: credentials in URLs of hosts and data images, and in the
// annotation of kubectl apply, are shown to who writes documents and to no reader.
func TestMaskedForReaders(t *testing.T) {
	s := start(t, func(o *kube.Options, _ *objects.Config) { o.Auth = byName{} })
	as := func(who, request string) string { return request + "\nAuthorization: " + who }
	const (
		images = "/apis/metal3.io/v1alpha1/namespaces/metal3/dataimages"
		image  = `{"url":"http://user:planted@h/os.raw?X-Amz-Signature=planted&b=c","checksum":"http://user:planted@h/sums"}`
	)
	s.ok(http.StatusCreated, as("operator", "POST "+hosts), `{"metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"spec\":{\"image\":{\"url\":\"http://user:planted@h/os.raw?X-Amz-Signature=planted\"}}}"}},"spec":{"online":true,"image":`+image+`}}`)
	s.ok(http.StatusCreated, as("operator", "POST "+images), `{"metadata":{"name":"a"},"spec":{"url":"http://user:planted@h/a.iso"}}`)
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
		if body := s.ok(http.StatusOK, as("operator", request), ""); !strings.Contains(body, "planted") || strings.Contains(body, "******") {
			t.Errorf("an operator's %s: %s", request, body)
		}
	}
}
