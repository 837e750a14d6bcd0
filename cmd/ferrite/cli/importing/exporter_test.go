package importing

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/ironic"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestReachForgetsErrors: an error that Ironic has cleared does not end the wait for a state.
func TestReachForgetsErrors(t *testing.T) {
	answers := []string{
		`{"provision_state": "verifying", "target_provision_state": "manageable", "last_error": "of before"}`,
		`{"provision_state": "adopting", "target_provision_state": "", "last_error": null}`,
		`{"provision_state": "active", "target_provision_state": null, "last_error": null}`,
	}
	x := exportTo(t, func(w io.Writer) {
		_, _ = io.WriteString(w, answers[0])
		answers = answers[1:]
	})
	if err := x.reach(t.Context(), "/v1/nodes/n", "adopt", "active"); err != nil || len(answers) != 0 {
		t.Errorf("%v, %d answers are left", err, len(answers))
	}
}

// TestReachNamesTheNextStep: a node that does not get into its state in time.
func TestReachNamesTheNextStep(t *testing.T) {
	x := exportTo(t, func(w io.Writer) { _, _ = io.WriteString(w, `{"provision_state": "verifying"}`) })
	err := x.reach(t.Context(), "/v1/nodes/n", "manage", "manageable")
	want := "manage: it is verifying still, expected manageable: see why there with baremetal node show n; then delete it"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, expected %s ...", err, want)
	}
}

// exportTo is an export to an Ironic that has its node shown by show.
func exportTo(t *testing.T, show func(io.Writer)) *exporter {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(nodeapi.HeaderMaxVersion, nodeapi.Version(nodeapi.MaxMinor))
		if r.URL.Path == "/v1/" || r.Method == http.MethodPut {
			_, _ = io.WriteString(w, "{}")
			return
		}
		show(w)
	}))
	t.Cleanup(s.Close)
	to, err := ironic.Open(t.Context(), ironic.Config{URL: s.URL, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return &exporter{to: to, every: time.Millisecond}
}
