package api_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// TestPatchesDoNotAddUp: no row of patches makes a node that no one patch could.
func TestPatchesDoNotAddUp(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	nested := strings.Repeat(`{"a":`, 19) + "1" + strings.Repeat("}", 19)
	add := func(path, value string) reply {
		return c.do(115, "PATCH", "/v1/nodes/n1", `[{"op":"add","path":"/extra`+path+`","value":`+value+`}]`)
	}
	if r := add("/a", nested); r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := add(strings.Repeat("/a", 20), nested); r.status != http.StatusBadRequest ||
		!strings.Contains(r.text(), "nested deeper than 25") {
		t.Errorf("deeper and deeper: %d %s", r.status, r.text())
	}
	large := `"` + strings.Repeat("x", 40<<10) + `"`
	if r := add("/b", large); r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.text())
	}
	if r := add("/c", large); r.status != http.StatusBadRequest || !strings.Contains(r.text(), "the limit is 65536") {
		t.Errorf("larger and larger: %d %.200s", r.status, r.text())
	}
	if r := c.do(115, "PATCH", "/v1/nodes/n1", `[{"op":"remove","path":"/extra/b"}]`); r.status != http.StatusOK {
		t.Errorf("smaller again: %d %s", r.status, r.text())
	}
}

// TestPatchNamesTheFault: the error names the failed operation of many.
func TestPatchNamesTheFault(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	for _, at := range []int{0, 1, 7, 99} {
		ops := make([]string, 100)
		for i := range ops {
			ops[i] = fmt.Sprintf(`{"op":"add","path":"/extra/k%d","value":1}`, i)
		}
		ops[at] = `{"op":"remove","path":"/extra/missing"}`
		r := c.must(http.StatusBadRequest, 115, "PATCH", "/v1/nodes/n1", "["+strings.Join(ops, ",")+"]")
		if !strings.HasPrefix(r.text(), "Couldn't apply patch '{'op': 'remove', 'path': '/extra/missing'}'. Reason: ") {
			t.Errorf("operation %d: %s", at, r.text())
		}
	}
}

// TestCredentialsInURLs: a reader of a node does not see the credentials that fetch its image.
func TestCredentialsInURLs(t *testing.T) {
	c := newConductor(t)
	const secret = "hunter2"
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"fake-hardware","name":"n1","automated_clean":false,"deploy_interface":"direct",
		"driver_info":{"deploy_kernel":"http://u:hunter2@h/vmlinuz"},
		"instance_info":{"image_source":"http://u:hunter2@h/i.raw","image_checksum":"http://h/sums?sig=hunter2","kernels":["http://hunter2@h/k"]}}`)
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/n1", `[{"op":"remove","path":"/instance_info/image_checksum"}]`)
	for _, path := range []string{"/v1/nodes/n1", "/v1/nodes/detail", "/v1/nodes?fields=instance_info,driver_info",
		"/v1/nodes/n1/validate"} {
		r := c.must(http.StatusOK, 115, "GET", path, "")
		if strings.Contains(r.body, secret) || !strings.Contains(r.body, "******") && path != "/v1/nodes/n1/validate" {
			t.Errorf("%s: %s", path, r.body)
		}
	}
	// A kernel's URL is shown by the boot script, so no boot is asked for with that one.
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/n1", `[{"op":"remove","path":"/driver_info/deploy_kernel"}]`)
	for _, verb := range []string{"manage", "provide", "active"} {
		r := c.do(115, "PUT", "/v1/nodes/n1/states/provision", `{"target":"`+verb+`"}`)
		c.settle("n1")
		if strings.Contains(r.body, secret) || verb == "active" &&
			!strings.Contains(r.text(), "http://******@h/i.raw has no checksum") {
			t.Errorf("%s: %d %s", verb, r.status, r.body)
		}
	}
	n, err := c.Engine.Node(t.Context(), "n1")
	if err != nil || n.InstanceInfo["image_source"] != "http://u:hunter2@h/i.raw" {
		t.Errorf("the conductor itself has %v, %v", n.InstanceInfo, err)
	}
}

// TestNUL: a byte that a database takes for the end of a text is the client's fault.
func TestNUL(t *testing.T) {
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	c := &conductor{t: t, Conductor: apitest.Start(t, db, func(e *engine.Engine) map[string]rest.Handler {
		return agents.NewServer(agents.Options{Conductor: e}).Handlers()
	})}
	for _, path := range []string{"/v1/nodes?owner=a%00", "/v1/nodes?description_contains=%00", "/v1/nodes?shard=a,%00",
		"/v1/ports?node=%00", "/v1/nodes/%00", "/v1/nodes?marker=%00"} {
		c.must(http.StatusBadRequest, 115, "GET", path, "")
	}
	c.must(http.StatusBadRequest, 115, "POST", "/v1/heartbeat/%00",
		`{"callback_url":"https://h","agent_token":"x","agent_version":"9"}`)
	c.must(http.StatusBadRequest, 115, "GET", "/ferrite/v1/erase-reports/%00", "")
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"fake-hardware","name":"n1","description":"two\nlines","extra":{"a":"tab\t"}}`)
}

// TestControlCharacters: no field of a record takes a character that ends a text in a
// database or that a terminal obeys, and nothing is made or changed.
func TestControlCharacters(t *testing.T) {
	c := newConductor(t)
	n := c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"fake-hardware","name":"n1","extra":{"a":"b"}}`).doc(t)
	id, _ := n["uuid"].(string)
	step := `"steps":[{"interface":"bios","step":"factory_reset","args":{"x":"*"},"order":1}]`
	asked := 0
	refused := func(method, path, body string) {
		t.Helper()
		for i := range body {
			if body[i] != '*' {
				continue
			}
			for _, control := range []string{`\u0000`, `\u001b`, `\u007f`} {
				bad := strings.ReplaceAll(body[:i], "*", "f") + control + strings.ReplaceAll(body[i+1:], "*", "f")
				if r := c.do(115, method, path, bad); r.status != http.StatusBadRequest ||
					!strings.Contains(r.text(), "control character") {
					t.Errorf("%s %s %s: %d %s", method, path, bad, r.status, r.body)
				}
				asked++
			}
		}
	}
	for path, body := range map[string]string{
		"nodes": `{"driver":"fake-hardware","name":"*","owner":"*","lessee":"*","resource_class":"*","description":"*","shard":"*","conductor_group":"*","extra":{"*":"*","x":["*",{"y":"*"}]},"properties":{"*":"*"},"driver_info":{"*":"*"},"instance_info":{"*":"*"},"power_interface":"*"}`,
		"ports": `{"node_uuid":"` + id +
			`","address":"52:54:00:00:00:01*","name":"*","physical_network":"*","extra":{"*":"*"},"local_link_connection":{"switch_info":"*"},"description":"*"}`,
		"portgroups": `{"node_uuid":"` + id +
			`","address":"*","name":"*","mode":"*","extra":{"*":"*"},"properties":{"*":"*"}}`,
		"chassis":           `{"description":"*","extra":{"*":"*"}}`,
		"allocations":       `{"resource_class":"*","name":"*","owner":"*","traits":["*"],"candidate_nodes":["*"],"extra":{"*":"*"}}`,
		"volume/connectors": `{"node_uuid":"` + id + `","type":"*","connector_id":"*","extra":{"*":"*"}}`,
		"volume/targets": `{"node_uuid":"` + id +
			`","volume_type":"*","volume_id":"*","boot_index":0,"properties":{"*":"*"},"extra":{"*":"*"}}`,
		"deploy_templates": `{"name":"*","extra":{"*":"*"},` + step + `}`,
		"runbooks":         `{"name":"*","owner":"*","description":"*","extra":{"*":"*"},` + step + `}`,
		"inspection_rules": `{"description":"*","conditions":[{"op":"*","args":["*"]}],"actions":[{"op":"*","args":{"*":"*"}}]}`,
	} {
		refused("POST", "/v1/"+path, body)
		key := path[strings.LastIndex(path, "/")+1:]
		want := 0
		if path == "nodes" {
			want = 1
		}
		if list, _ := c.must(http.StatusOK, 115, "GET", "/v1/"+path, "").doc(t)[key].([]any); len(list) != want {
			t.Errorf("%s: %d records, want %d", path, len(list), want)
		}
	}
	for _, field := range []string{"name", "owner", "description", "resource_class", "extra/a", "driver_info/a",
		"instance_info/a"} {
		refused("PATCH", "/v1/nodes/n1", `[{"op":"add","path":"/`+field+`","value":"*"}]`)
	}
	refused("PUT", "/v1/nodes/n1/states/provision",
		`{"target":"*","configdrive":{"meta_data":{"*":"*"},"user_data":"*"},"rescue_password":"*"}`)
	refused("PUT", "/v1/nodes/n1/maintenance", `{"reason":"*"}`)
	refused("PUT", "/v1/nodes/n1/traits", `{"traits":["*"]}`)
	refused("POST", "/v1/nodes/n1/vifs", `{"id":"*","x":{"*":"*"}}`)
	refused("POST", "/v1/nodes/n1/vmedia", `{"device_type":"*","image_url":"*"}`)
	for _, line := range []string{`{"op":"add","path":"/resource_class","value":"a\nb"}`,
		`{"op":"add","path":"/owner","value":"a\tb"}`} {
		c.must(http.StatusBadRequest, 115, "PATCH", "/v1/nodes/n1", "["+line+"]")
	}
	for _, path := range []string{"/v1/nodes/n1%1b", "/v1/nodes?owner=%7f", "/v1/nodes?%1b=x", "/v1/ports?address=%0a",
		"/ferrite/v1/erase-reports/%00"} {
		c.must(http.StatusBadRequest, 115, "GET", path, "")
	}
	if after := c.must(http.StatusOK, 115, "GET", "/v1/nodes/n1", "").doc(t); after["updated_at"] != nil {
		t.Errorf("the node was changed: %v", after)
	}
	if asked < 200 {
		t.Errorf("only %d requests were tried", asked)
	}
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/n1",
		`[{"op":"add","path":"/description","value":"two\nlines\tand a tab"},{"op":"add","path":"/extra/a","value":"\r\n"}]`)
}
