package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// broken puts control characters in place of each star. A database takes the first for the end of a text, a terminal
// obeys the second, and the others delete the letter before.
func broken(text string) string { return strings.ReplaceAll(text, "*", `\u0000\u001b\b\u007f`) }

// TestControlCharacters: no endpoint takes a control character in its path, its query
// or its arguments, and the conductor never hears of such a request.
func TestControlCharacters(t *testing.T) {
	good := `"callback_url":"https://h:9999","agent_token":"` + aToken + `","agent_version":"9"`
	for _, tc := range [][3]string{
		{"GET", "/v1/lookup?addresses=" + aMAC + "%1b", ""},
		{"GET", "/v1/lookup?addresses=" + aMAC + "&%00=1", ""},
		{"GET", "/v1/lookup?node_uuid=" + aNode + "%00", ""},
		{"POST", "/v1/heartbeat/n1%00", `{` + good + `}`},
		{"POST", "/v1/heartbeat/n1?callback_url=https://h%7f", ""},
		{"POST", "/v1/heartbeat/n1", `{"callback_url":"https://h*","agent_token":"` + aToken + `","agent_version":"9"}`},
		{"POST", "/v1/heartbeat/n1", `{"callback_url":"https://h","agent_token":"` + aToken + `*","agent_version":"9"}`},
		{"POST", "/v1/heartbeat/n1", `{"callback_url":"https://h","agent_token":"` + aToken + `","agent_version":"9*"}`},
		{"POST", "/v1/heartbeat/n1", `{` + good + `,"agent_verify_ca":"*"}`},
		{"POST", "/v1/continue_inspection?node_uuid=%00", `{}`},
		{"POST", "/v1/continue_inspection?boot_word=%1b", `{}`},
		{"POST", "/ferrite/v1/agents/" + aNode + "%0a/progress", `{}`},
		{"POST", "/ferrite/v1/agents/" + aNode + "/progress", `{"agent_token":"` + aToken + `","step":"write*"}`},
		{"POST", "/ferrite/v1/agents/" + aNode + "/progress", `{"agent_token":"` + aToken + `","step":"write","stage":"\n"}`},
	} {
		c := &scripted{state: node.CleanWait}
		a := ask(t, NewServer(Options{Conductor: c}), 115, tc[0], tc[1], broken(tc[2]))
		if a.status != 400 || !strings.Contains(a.text, "control character") || c.calls != nil {
			t.Errorf("%v: %d %s%s, the conductor heard %v", tc, a.status, a.text, a.body, c.calls)
		}
	}
	c := &scripted{state: node.CleanWait}
	if a := ask(t, NewServer(Options{Conductor: c}), 115, "POST", "/v1/heartbeat/n1",
		broken(`{`+good+`,"agent_status":"error","agent_status_message":"mkfs: *"}`)); a.status != 202 {
		t.Errorf("a message that nobody reads: %d %s", a.status, a.text)
	}
}

// keeps remembers a machine's inspection data.
type keeps struct {
	scripted
	data agentapi.Inspection
	raw  []byte
}

func (k *keeps) ContinueInspection(_ context.Context, _ string, data agentapi.Inspection, raw []byte,
	_ node.Caller) (node.Node, error) {
	k.data, k.raw = data, raw
	return node.Node{UUID: aNode}, nil
}

// TestInspectionIsCleaned: a machine with control characters from its firmware is inspected all the same, and none of
// them comes through.
func TestInspectionIsCleaned(t *testing.T) {
	recorded, err := os.ReadFile("../../proto/agentapi/testdata/inspection.json")
	if err != nil {
		t.Fatal(err)
	}
	sent := broken(strings.ReplaceAll(string(recorded), `": "`, `*": "*`)) // keys and values
	if !strings.Contains(sent, "u0000") {
		t.Fatal("nothing in the recorded inventory was broken")
	}
	c := &keeps{}
	if a := ask(t, NewServer(Options{Conductor: c}), 0, "POST", "/v1/continue_inspection", sent); a.status != 202 {
		t.Fatalf("%d %s", a.status, a.text)
	}
	if string(c.raw) != string(recorded) {
		t.Errorf("the inventory is another than that without control characters:\n%s", c.raw)
	}
	var v any
	if err := json.Unmarshal(c.raw, &v); err != nil {
		t.Fatal(err)
	}
	if err := nodeapi.CheckText(v); err != nil || c.data.Inventory.Interfaces[0].Name != "enp0s1" {
		t.Errorf("%v, interface %q", err, c.data.Inventory.Interfaces[0].Name)
	}
}

// TestAnswersAreCleaned: neither the result of a command nor its refusal brings
// control characters, which disks' serial numbers and programs' errors may have.
func TestAnswersAreCleaned(t *testing.T) {
	status := http.StatusOK
	a := agentAt(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		if status != http.StatusOK {
			fmt.Fprint(w, broken(`{"faultcode":"Client","faultstring":"no *disk"}`))
			return
		}
		fmt.Fprint(w,
			broken(
				`{"commands":[{"id":"1*","command_name":"x","command_status":"SUCCEEDED","command_result":{"serial*":"S1*"}}]}`))
	})
	c := NewClient(ClientOptions{})
	defer c.Close()
	all, err := c.Commands(t.Context(), of(a))
	if err != nil || len(all) != 1 || all[0].ID != "1" || string(all[0].Result) != `{"serial":"S1"}` {
		t.Errorf("%+v, %v", all, err)
	}
	status = http.StatusBadRequest
	var refused *APIError
	if _, err := c.Commands(t.Context(), of(a)); !errors.As(err, &refused) || refused.Fault.String != "no disk" {
		t.Errorf("refused with %v", err)
	}
}
