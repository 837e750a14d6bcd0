package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// machineLogs takes the logs of machines.
type machineLogs struct{}

func (machineLogs) Append(string, string, int64, []string) error { return nil }

// TestDocumentOfAgents: the document describes an agent's requests and their answers, from its lookup on.
func TestDocumentOfAgents(t *testing.T) {
	d := readDocument(t,
		&conductor{t: t, Conductor: apitest.Start(t, mem.New(), func(e *engine.Engine) map[string]rest.Handler {
			return agents.NewServer(agents.Options{Conductor: e, Logs: machineLogs{}}).Handlers()
		})})
	const mac = "52:54:00:00:00:09"
	d.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"ipmi","name":"r1","inspect_interface":"agent","uuid":"`+fuzzNode+`"}`)
	d.must(http.StatusCreated, 115, "POST", "/v1/ports", `{"address":"`+mac+`","node_uuid":"`+fuzzNode+`"}`)
	call := func(minor, status int, method, path, query, body string) reply {
		t.Helper()
		url, of := strings.ReplaceAll(path, "{node}", fuzzNode)+query, strings.ToLower(method)
		if body != "" && !d.check("request of "+url, body, "paths", path, of, "requestBody", "content",
			"application/json", "schema") {
			t.Errorf("what %s takes is not described", path)
		}
		r := d.must(status, minor, method, url, body)
		if described := d.check("answer of "+url, r.body, content(path, of, fmt.Sprint(status))...); !described &&
			(r.body != "" || d.at("paths", path, of, "responses", fmt.Sprint(status)) == nil) {
			t.Errorf("what %s answers is not described: %d %s", path, status, r.body)
		}
		return r
	}
	found := `{"inventory":{"interfaces":[{"name":"eth0","mac_address":"` + mac +
		`","lldp":null}],"cpu":{},"memory":{"physical_mb":1024},"disks":[]},"error":null}`
	d.provision("r1", "manage", "inspect")
	call(1, http.StatusAccepted, "POST", "/v1/continue_inspection", "", found)
	d.settle("r1")
	d.provision("r1", "inspect")
	call(84, http.StatusAccepted, "POST", "/v1/continue_inspection", "?node_uuid="+fuzzNode, found)
	d.settle("r1")
	d.provision("r1", "provide")
	call(61, http.StatusOK, "GET", "/v1/lookup", "?addresses="+mac, "")
	config, _ := call(115, http.StatusOK, "GET", "/v1/lookup", "?addresses="+mac, "").doc(t)["config"].(map[string]any)
	token, _ := config["agent_token"].(string)
	call(1, http.StatusAccepted, "POST", "/ferrite/v1/agents/{node}/log", "",
		`{"agent_token":"`+token+`","first":0,"lines":["up"]}`)
	call(1, http.StatusAccepted, "POST", "/ferrite/v1/agents/{node}/progress", "",
		`{"agent_token":"`+token+`","step":"x","stage":"y","done":1,"total":2}`)
	call(115, http.StatusAccepted, "POST", "/v1/heartbeat/{node}", "",
		`{"agent_token":"`+token+`","agent_version":"9.9","callback_url":"http://127.0.0.1:9999","agent_status":"start"}`)
	if d.at("paths", "/v1/heartbeat/{node}", "post", "requestBody", "content", "application/json", "schema", "properties",
		"agent_status", "x-since") != "1.72" {
		t.Error("when agent_status came is not said")
	}
	if readDocument(t, &conductor{t: t, Conductor: apitest.Start(t, mem.New(), nil)}).at("paths", "/v1/lookup") != nil {
		t.Error("lookup is described where it is not served")
	}
}
