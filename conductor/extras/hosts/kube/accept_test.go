package kube_test

import (
	"net/http"
	"testing"
)

// TestUnacceptableBeforeDone: a request for an answer in an unknown form is refused before it is done, not after.
func TestUnacceptableBeforeDone(t *testing.T) {
	s := start(t)
	const asHTML = "\nAccept: text/html"
	s.ok(http.StatusNotAcceptable, "POST "+hosts+asHTML, aHost)
	s.ok(http.StatusNotFound, "GET "+hosts+"/node-0", "")
	s.ok(http.StatusCreated, "POST "+hosts, aHost)
	s.ok(http.StatusNotAcceptable, "DELETE "+hosts+"/node-0"+asHTML, "")
	s.ok(http.StatusNotAcceptable, "PATCH "+hosts+"/node-0"+asMerge+asHTML, `{"spec":{"online":false}}`)
	before := s.ok(http.StatusOK, "GET "+hosts+"/node-0", "")
	s.ok(http.StatusNotAcceptable, "DELETE "+hosts+asHTML, "")
	if after := s.ok(http.StatusOK, "GET "+hosts+"/node-0", ""); after != before {
		t.Errorf("the host was changed: %s", after)
	}
}
