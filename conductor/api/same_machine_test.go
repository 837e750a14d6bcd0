package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// enrollment is the body of a node with its BMC at an address.
func enrollment(name, address, system, owner string) string {
	return fmt.Sprintf(
		`{"driver":"redfish","name":%q,"owner":%q,"driver_info":{"redfish_address":%q,"redfish_system_id":%q}}`,
		name, owner, address, system)
}

// TestSameMachine: a second node of one machine is refused, at its creation and at a change, with the name of the
// other. With force it is taken. Other changes of two existing ones are taken.
func TestSameMachine(t *testing.T) {
	c := newConductor(t)
	const first, second = "/redfish/v1/Systems/1", "/redfish/v1/Systems/2"
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", enrollment("metal-1", "https://10.0.0.1", first, ""))
	r := c.do(115, "POST", "/v1/nodes", enrollment("dup", "10.0.0.1:443", first+"/", ""))
	if r.status != http.StatusConflict ||
		!strings.HasPrefix(r.text(), "The BMC 10.0.0.1:443 and system /redfish/v1/Systems/1 is that of node metal-1 (") {
		t.Errorf("a second node answers %d %s", r.status, r.body)
	}
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", enrollment("blade-2", "https://10.0.0.1", second, ""))
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/metal-1",
		`[{"op":"add","path":"/driver_info/redfish_username","value":"a"}]`)
	move := `[{"op":"add","path":"/driver_info/redfish_system_id","value":"` + first + `"}]`
	if r := c.do(115, "PATCH", "/v1/nodes/blade-2", move); r.status != http.StatusConflict {
		t.Errorf("a node that becomes the machine of another answers %d %s", r.status, r.body)
	}
	forced := func(method, path, body string) reply {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, c.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(nodeapi.HeaderVersion, nodeapi.Version(115))
		r.Header.Set(nodeapi.HeaderForce, "true")
		return c.send(r)
	}
	if r := forced("PATCH", "/v1/nodes/blade-2", move); r.status != http.StatusOK {
		t.Errorf("forced, it answers %d %s", r.status, r.body)
	}
	if r := forced("POST", "/v1/nodes", enrollment("dup", "https://10.0.0.1", "", "")); r.status != http.StatusCreated {
		t.Errorf("forced, a second node answers %d %s", r.status, r.body)
	}
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/dup",
		`[{"op":"add","path":"/driver_info/redfish_username","value":"b"}]`)
	c.must(http.StatusNoContent, 115, "DELETE", "/v1/nodes/metal-1", "")
	c.must(http.StatusNoContent, 115, "DELETE", "/v1/nodes/blade-2", "")
	if r := c.do(115, "POST", "/v1/nodes", enrollment("third", "10.0.0.1", first, "")); r.status != http.StatusConflict {
		t.Errorf("beside a forced node, another answers %d %s", r.status, r.body)
	}
	away := `[{"op":"add","path":"/driver_info/redfish_address","value":"https://10.0.0.9"}]`
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/dup", away)
	if r := c.do(115, "POST", "/v1/nodes", enrollment("third", "10.0.0.9", "", "")); r.status != http.StatusConflict ||
		!strings.Contains(r.text(), "is that of node dup (") {
		t.Errorf("a forced node that has become another machine leaves that to others: %d %s", r.status, r.body)
	}
	c.must(http.StatusNoContent, 115, "DELETE", "/v1/nodes/dup", "")
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", enrollment("again", "https://10.0.0.1", first, ""))
	for range 2 { // fake hardware has no BMC
		c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
			`{"driver":"fake-hardware","driver_info":{"redfish_address":"https://10.0.0.1"}}`)
	}
}

// TestSameMachineAtOnce: of many nodes of one machine that are made at a time, one is taken.
func TestSameMachineAtOnce(t *testing.T) {
	c := newConductor(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for i := range 12 {
		all.Go(func() {
			r := c.do(115, "POST", "/v1/nodes", enrollment(fmt.Sprintf("n%d", i), "https://10.0.0.1", "", ""))
			mu.Lock()
			defer mu.Unlock()
			answers[r.status]++
		})
	}
	all.Wait()
	if answers[http.StatusCreated] != 1 || answers[http.StatusConflict] != 11 {
		t.Errorf("answers by status: %v", answers)
	}
}

// TestSameMachineOfAnotherProject: a node that the caller may not see causes a refusal, which does not name it.
func TestSameMachineOfAnotherProject(t *testing.T) {
	g := newGuardedConductor(t)
	made := g.as("admin "+owner, http.MethodPost, "/v1/nodes", enrollment("hidden", "https://10.0.0.1", "", owner))
	if made.status != http.StatusCreated {
		t.Fatalf("%d %s", made.status, made.body)
	}
	for who, names := range map[string]bool{"admin " + other: false, "admin ": true} {
		project := ""
		if !names {
			project = other
		}
		r := g.as(who, http.MethodPost, "/v1/nodes", enrollment("dup", "https://10.0.0.1", "", project))
		if r.status != http.StatusConflict || strings.Contains(r.text(), "hidden") != names {
			t.Errorf("%s: %d %s", who, r.status, r.body)
		}
	}
}
