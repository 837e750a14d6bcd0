package kube_test

import (
	"net/http"
	"os"
	"regexp"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/kube"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestProbeOfFullDisk: the check of the page about proxies leaves a single conductor reachable while its disk is full:
// only deletes make room.
func TestProbeOfFullDisk(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/operate/proxy.md")
	if err != nil {
		t.Fatal(err)
	}
	probe := regexp.MustCompile(`option httpchk (GET \S+)`).FindSubmatch(page)
	if probe == nil {
		t.Fatal("the page has no check")
	}
	s := start(t, func(o *kube.Options, _ *objects.Config) {
		o.Ready = func() error { return nodeapi.NewFault(http.StatusInsufficientStorage, "the disk is full") }
	})
	s.ok(http.StatusServiceUnavailable, "GET /readyz", "")
	s.ok(http.StatusOK, string(probe[1]), "")
}
