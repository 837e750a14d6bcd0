package api_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestBMCTrial: a BMC is logged in at before there is a node, and nothing is kept of it. Settings that a new node could
// not have are refused before anything is dialled, and no answer has the password.
func TestBMCTrial(t *testing.T) {
	c := newConductor(t)
	const path = nodeapi.FerriteRoot + "/bmc-test"
	const info = `"driver_info":{"redfish_address":"https://10.0.0.9","redfish_password":"hunter2"}`
	good := `{"driver":"redfish",` + info + `}`
	if d := c.must(http.StatusOK, 115, "POST", path, good).doc(t); d["power_state"] != "power off" {
		t.Errorf("the answer is %v", d)
	}
	for body, want := range map[string]string{
		`{}`:                              "'driver' is a required property",
		`{"driver":"redfish","name":"m"}`: "Unexpected arguments: name",
		`{"driver":"vax"}`:                "vax",
		`{"driver":"redfish","driver_info":{"redfish_password":"` + nodeapi.Masked + `"}}`: "stands for a secret",
		`{"driver":"redfish","driver_info":7}`:                                             "not of type 'object'",
	} {
		if r := c.do(115, "POST", path, body); r.status != http.StatusBadRequest || !strings.Contains(r.text(), want) {
			t.Errorf("%s answers %d %s, want 400 with %q", body, r.status, r.body, want)
		}
	}
	c.BMC.Break(errors.New("dial tcp 10.0.0.9:443: connection refused"))
	r := c.do(115, "POST", path, good)
	if r.status != http.StatusBadGateway || !strings.Contains(r.text(), "connection refused") ||
		strings.Contains(r.body, "hunter2") {
		t.Errorf("a BMC that is not there answers %d %s", r.status, r.body)
	}
	c.BMC.Break(nil)
	if found := len(c.must(http.StatusOK, 115, "GET", "/v1/nodes", "").doc(t)["nodes"].([]any)); found != 0 {
		t.Errorf("%d nodes are kept of the tests", found)
	}
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"name":"m1","driver":"redfish",`+info+`}`)
	if r := c.do(115, "POST", path, good); r.status != http.StatusConflict || !strings.Contains(r.text(), "node m1") {
		t.Errorf("the BMC of another node answers %d %s", r.status, r.body)
	}
}

// TestBMCTrialsAtOnce: tests of BMCs are bounded, and a BMC that hangs holds up no more than its place.
func TestBMCTrialsAtOnce(t *testing.T) {
	c := newConductor(t)
	release := c.BMC.Hold()
	const most = 8
	answers := make(chan int, most+1)
	for range most + 1 {
		go func() {
			answers <- c.do(115, "POST", nodeapi.FerriteRoot+"/bmc-test", `{"driver":"ipmi"}`).status
		}()
	}
	if status := <-answers; status != http.StatusServiceUnavailable {
		t.Errorf("one more than the places answers %d", status)
	}
	release()
	for range most {
		if status := <-answers; status != http.StatusOK {
			t.Errorf("a test that waited answers %d", status)
		}
	}
}

// TestBMCTrialsOfProject: BMCs of one project that hang leave places to another project.
func TestBMCTrialsOfProject(t *testing.T) {
	g := newGuardedConductor(t)
	release := g.BMC.Hold()
	test := func(project string) int {
		return g.as("admin "+project, "POST", nodeapi.FerriteRoot+"/bmc-test", `{"driver":"ipmi"}`).status
	}
	const asked, most = 9, 2
	answers := make(chan int, asked+1)
	for range asked {
		go func() { answers <- test(owner) }()
	}
	want := func(n, status int) {
		t.Helper()
		for range n {
			select {
			case got := <-answers:
				if got != status {
					t.Errorf("a test answers %d, want %d", got, status)
				}
			case <-time.After(10 * time.Second):
				t.Error("a test waits, want it refused")
				return
			}
		}
	}
	want(asked-most, http.StatusServiceUnavailable)
	go func() { answers <- test(other) }()
	release()
	want(most+1, http.StatusOK)
}
