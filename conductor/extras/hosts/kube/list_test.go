package kube_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/kube"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
)

// TestPagesInBytes: of Secrets that are as long as Kubernetes takes them, a page with a limit ends before 8 MiB and
// goes on by continue, as kubectl (limit=500) follows it. A client that names no limit has all of them in one answer.
func TestPagesInBytes(t *testing.T) {
	s := start(t, func(_ *kube.Options, c *objects.Config) { c.Events = 4 })
	secret := func(n int) string {
		return `{"metadata":{"generateName":"s-"},"data":{"a":"` + strings.Repeat("eHh4", n/4) + `"}}`
	}
	for range 9 {
		s.ok(http.StatusCreated, "POST "+secrets, secret(1<<20-100))
	}
	type list struct {
		Metadata struct{ Continue string }
		Items    []any
	}
	read := func(code int, query string) (l list, size int) {
		t.Helper()
		text := s.ok(code, "GET "+secrets+"?"+query, "")
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		return l, len(text)
	}
	first, size := read(http.StatusOK, "limit=500")
	if len(first.Items) != 7 || first.Metadata.Continue == "" || size > 8<<20+1000 {
		t.Errorf("the first page has %d items, %d bytes, continue %q", len(first.Items), size, first.Metadata.Continue)
	}
	second, _ := read(http.StatusOK, "limit=500&continue="+first.Metadata.Continue)
	if len(second.Items) != 2 || second.Metadata.Continue != "" {
		t.Errorf("the second page has %d items, continue %q", len(second.Items), second.Metadata.Continue)
	}
	if all, _ := read(http.StatusOK, ""); len(all.Items) != 9 || all.Metadata.Continue != "" {
		t.Errorf("without a limit there are %d items, continue %q", len(all.Items), all.Metadata.Continue)
	}
	for range 5 { // then no client can follow from the first page
		s.ok(http.StatusCreated, "POST "+secrets, secret(4))
	}
	var status struct{ Reason string }
	gone := s.ok(http.StatusGone, "GET "+secrets+"?limit=500&continue="+first.Metadata.Continue, "")
	if err := json.Unmarshal([]byte(gone), &status); err != nil || status.Reason != "Expired" {
		t.Errorf("an old continue is answered %s, want the reason Expired, by which clients list again", gone)
	}
	s.ok(http.StatusUnprocessableEntity, "POST "+secrets, secret(1<<20+100))
	said := s.ok(http.StatusUnprocessableEntity, "POST "+hosts,
		fmt.Sprintf(`{"metadata":{"name":"a","annotations":{"a":"%s"}},"spec":{"description":"%s"}}`, strings.Repeat("x", 256<<10),
			strings.Repeat("y", 64<<10)))
	for _, want := range []string{"metadata.annotations", "262152 bytes of JSON, the limit is 262144", "spec.description",
		"65538 bytes of JSON, the limit is 65536"} {
		if !strings.Contains(said, want) {
			t.Errorf("a long host is refused by %.400s, without %q", said, want)
		}
	}
}

// TestListAsYAML: a list is written document by document, and reads as one.
func TestListAsYAML(t *testing.T) {
	s := start(t)
	if got := s.ok(http.StatusOK, "GET "+secrets+"\nAccept: application/yaml", ""); !strings.Contains(got, "items: []\n") {
		t.Errorf("an empty list is %q", got)
	}
	s.ok(http.StatusCreated, "POST "+hosts, `{"metadata":{"name":"a"},"spec":{"online":true,"description":"two\nlines: x"}}`)
	s.ok(http.StatusCreated, "POST "+hosts, `{"metadata":{"name":"b"},"spec":{"online":false}}`)
	got := s.ok(http.StatusOK, "GET "+hosts+"\nAccept: application/yaml", "")
	for _, want := range []string{"kind: BareMetalHostList\n",
		"\nitems:\n- apiVersion: metal3.io/v1alpha1\n  kind: BareMetalHost\n",
		"\n    description: |-\n      two\n      lines: x\n", "\n    name: b\n", "\nmetadata:\n  resourceVersion:"} {
		if !strings.Contains("\n"+got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
