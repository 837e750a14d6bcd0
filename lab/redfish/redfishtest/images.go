package redfishtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// Images serves firmware as /COMPONENT-VERSION, and returns its URL. The component "junk" is in no controller.
func Images(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, version, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "-")
		if !slices.Contains([]string{"BIOS", "BMC", "NIC", "junk"}, name) {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, `{"Component": %q, "Version": %q}`, name, version)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
