package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestEveryKeyOfEveryKind gives each key of the table a value of each kind that JSON has. It is stored as it is, or
// refused with the key's name; validation works either way.
func TestEveryKeyOfEveryKind(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	values := []string{`null`, `true`, `5`, `"text"`, `""`, `"%00\n"`, `["a"]`, `{"a":{"b":[null,{}]}}`,
		`"` + strings.Repeat("x", 4<<10) + `"`}
	taken, refused := 0, 0
	for _, k := range node.Keys {
		name := strings.ReplaceAll(k.Name, "*", "x")
		path := "/" + string(k.Place) + "/" + name
		if k.Place == node.InCapabilities {
			path = "/instance_info/capabilities"
		}
		for _, value := range values {
			sent := value
			if k.Place == node.InCapabilities {
				sent = fmt.Sprintf(`{%q:%s}`, name, value)
			}
			r := c.do(115, "PATCH", "/v1/nodes/n1", fmt.Sprintf(`[{"op":"add","path":%q,"value":%s}]`, path, sent))
			switch {
			case r.status == http.StatusOK:
				taken++
				wantStored(t, r, path, sent)
			case r.status == http.StatusBadRequest && strings.Contains(r.text(), name):
				refused++
			default:
				t.Errorf("%s = %.60s: %d %.300s", path, sent, r.status, r.body)
			}
		}
		c.must(http.StatusOK, 115, "GET", "/v1/nodes/n1/validate", "")
		c.do(115, "PATCH", "/v1/nodes/n1", fmt.Sprintf(`[{"op":"remove","path":%q}]`, path))
	}
	if taken < 3*len(node.Keys) || refused < len(node.Keys) {
		t.Errorf("of %d keys, %d values were taken and %d refused: expected more of both", len(node.Keys), taken, refused)
	}
	big := `[{"op":"add","path":"/driver_info/deploy_kernel","value":"` + strings.Repeat("x", nodeapi.BodyLimit) + `"}]`
	c.must(http.StatusRequestEntityTooLarge, 115, "PATCH", "/v1/nodes/n1", big)
}

// wantStored compares a patched value with the answer, which hides passwords.
func wantStored(t *testing.T, r reply, path, sent string) {
	t.Helper()
	var want any
	if err := json.Unmarshal([]byte(sent), &want); err != nil {
		t.Fatal(err)
	}
	got := any(r.doc(t))
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		m, _ := got.(map[string]any)
		got = m[part]
	}
	if !reflect.DeepEqual(got, want) && got != nodeapi.Masked {
		t.Errorf("%s = %.60s was taken, and is stored as %.60v", path, sent, got)
	}
}

// TestKeysOnTheWire: a new node, a patch and an import of a wrong value are refused alike, and validation names keys
// without an effect while the interface stays valid.
func TestKeysOnTheWire(t *testing.T) {
	c := newConductor(t)
	r := c.must(http.StatusBadRequest, 115, "POST", "/v1/nodes",
		`{"driver":"fake-hardware","driver_info":{"kernel_append_params":"a\nb"}}`)
	if want := "driver_info/kernel_append_params holds a line break"; !strings.Contains(r.text(), want) {
		t.Errorf("a new node: got %q, want %q", r.text(), want)
	}
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1",
		"driver_info":{"redfish_adress":"x","pxe_template":"y"}}`)
	verdicts := c.must(http.StatusOK, 115, "GET", "/v1/nodes/n1/validate", "").doc(t)
	for kind, want := range map[string]string{
		"power": "driver_info: unknown key 'redfish_adress', nearest known: redfish_address",
		"boot":  "driver_info: pxe_template has no effect: boot scripts are the conductor's own",
	} {
		v, _ := verdicts[kind].(map[string]any)
		if reason, _ := v["reason"].(string); v["result"] != true || !strings.HasPrefix(reason, want) {
			t.Errorf("validate %s: got %v, want result true and reason %q", kind, v, want)
		}
	}
}
