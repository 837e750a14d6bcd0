package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestMethods: an unsupported method is a 405, or a 404 where only GET would be possible. An unknown path is a 404.
// Both have the form of errors from outside a controller, and name the microversions.
func TestMethods(t *testing.T) {
	d := readDocument(t, newConductor(t))
	d.fill()
	fill := strings.NewReplacer("{node}", "n1", "{driver}", "fake-hardware", "{host}", "conductor-1", "{", "", "}", "")
	refused := func(method, path string, statuses ...int) {
		t.Helper()
		r := d.do(nodeapi.MaxMinor, method, path, "")
		if !slices.Contains(statuses, r.status) || errorForm(r.body) != "route" ||
			r.header.Get(nodeapi.HeaderMaxVersion) == "" {
			t.Errorf("%s %s: status %d, want %v: %v %s", method, path, r.status, statuses, r.header, r.body)
		}
	}
	for path, item := range d.root["paths"].(map[string]any) {
		last := path[strings.LastIndex(path, "/")+1:]
		if !strings.HasPrefix(path, nodeapi.Root+"/") || last == "detail" || last == "validate" || last == "methods" {
			continue // the last three could be names of records, too
		}
		for method, statuses := range map[string][]int{
			http.MethodGet:  {http.StatusMethodNotAllowed, http.StatusNotFound},
			http.MethodPost: {http.StatusMethodNotAllowed}, http.MethodPut: {http.StatusMethodNotAllowed},
			http.MethodPatch: {http.StatusMethodNotAllowed}, http.MethodDelete: {http.StatusMethodNotAllowed},
		} {
			if item.(map[string]any)[strings.ToLower(method)] == nil {
				refused(method, fill.Replace(path), statuses...)
			}
		}
		if r := d.do(nodeapi.MaxMinor, http.MethodOptions, fill.Replace(path), ""); r.status != http.StatusOK ||
			r.body != "" {
			t.Errorf("OPTIONS %s: status %d, %s", path, r.status, r.body)
		}
	}
	for _, path := range []string{"/v1/nonsense", "/v1/drivers/fake-hardware/nonsense/more",
		"/v1/nodes/n1/allocation/more"} {
		refused(http.MethodGet, path, http.StatusNotFound)
	}
}
