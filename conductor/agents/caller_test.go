package agents

import (
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func TestCaller(t *testing.T) {
	from := netip.MustParseAddr("10.0.0.9")
	for name, tc := range map[string]struct {
		agent, header, query string
		want                 node.Caller
	}{
		"ours":                           {agentapi.UserAgent, "w", "", node.Caller{From: from, Word: "w"}},
		"ours, of a boot without a word": {agentapi.UserAgent, "", "", node.Caller{From: from}},
		"ours, of before there were any": {"Go-http-client/1.1", "", "", node.Caller{From: from, Old: true}},
		"ironic-python-agent":            {"python-requests/2.28.1", "", "?boot_word=w", node.Caller{From: from, Word: "w"}},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", agentapi.ContinueInspectionPath+tc.query, nil)
		r.RemoteAddr = "10.0.0.9:1234"
		r.Header.Set("User-Agent", tc.agent)
		if tc.header != "" {
			r.Header.Set(agentapi.BootWordHeader, tc.header)
		}
		if got := callerOf(r); got != tc.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := nodeapi.MaskText(
		"POST http://h/v1/continue_inspection?boot_word=hunter2"); got !=
		"POST http://h/v1/continue_inspection?boot_word=******" {
		t.Errorf("a log says %s", got)
	}
}
