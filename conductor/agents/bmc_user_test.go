package agents

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestBMCUser: an unknown machine is asked for a BMC user, and hands it in. No answer has the password.
func TestBMCUser(t *testing.T) {
	const data = `{"inventory":{"interfaces":[{"mac_address":"` + aMAC + `"}]}}`
	c := &scripted{nobody: true, discovers: true}
	s := NewServer(Options{Conductor: c})
	if a := ask(t, s, 0, "POST", "/v1/continue_inspection", data); a.body != `{"uuid":"`+aNode+`"}` {
		t.Errorf("not asked for: %s", a.body)
	}
	c.request = &agentapi.BMCUserRequest{Name: "ferrite-inband", Token: "the-token"}
	if a := ask(t, s, 0, "POST", "/v1/continue_inspection",
		data); a.body != `{"uuid":"`+aNode+`","ferrite_bmc_user":{"name":"ferrite-inband","token":"the-token"}}` {
		t.Errorf("asked for: %s", a.body)
	}
	c.calls = nil
	user := func(token, name string) string {
		return `{"token":"` + token + `","name":"` + name + `","password":"Abcdefgh-1234567","address":"10.0.0.5"}`
	}
	for _, tc := range []struct {
		uuid, body string
		want       int
	}{
		{aNode, user("the-token", "ferrite-inband"), 202},
		{strings.ToUpper(aNode), `{"token":"the-token","error":"no BMC"}`, 202},
		{aNode, user("another", "ferrite-inband"), 404},
		{aNode, user("the-token", "seventeen-letters"), 400},
		{aNode, `{"token":"the-token","password":["Abcdefgh-1234567"]}`, 400},
		{aNode, `"Abcdefgh-1234567"`, 400},
		{aNode, `Abcdefgh-1234567`, 400},
		{"n1", user("the-token", "ferrite-inband"), 404},
	} {
		a := ask(t, s, 0, "POST", "/ferrite/v1/agents/"+tc.uuid+"/bmc_user", tc.body)
		if a.status != tc.want || strings.Contains(a.body+a.text, "Abcdefgh") || strings.Contains(a.text, "secret reason") {
			t.Errorf("%s: %d %s %s, want %d", tc.body, a.status, a.body, a.text, tc.want)
		}
	}
	want := []string{
		`BMC user "ferrite-inband" at 10.0.0.5 of ` + aNode + ` from 10.0.0.9`, `no BMC user: no BMC of ` + aNode +
			` from 10.0.0.9`,
		`BMC user "ferrite-inband" at 10.0.0.5 of ` + aNode + ` from 10.0.0.9`,
	}
	if diff := cmp.Diff(want, c.calls); diff != "" {
		t.Error(diff)
	}
}
