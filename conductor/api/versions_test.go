package api_test

import (
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// readTSV reads a table of facts without its header.
func readTSV(t *testing.T, name string) [][]string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(raw)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows[1:]
}

// TestFieldVersions: each field appears from its microversion on, and can be
// asked for from then on; before, asking is a 406.
func TestFieldVersions(t *testing.T) {
	c := newConductor(t)
	id, _ := c.must(http.StatusCreated, 82, "POST", "/v1/nodes", `{"driver":"fake-hardware"}`).doc(t)["uuid"].(string)
	newer := [][]string{
		{"", "parent_node", "83"}, {"", "firmware_interface", "86"}, {"", "service_step", "87"},
		{"", "disable_power_off", "95"}, {"", "instance_name", "104"}, {"", "health", "109"},
	}
	for _, row := range append(readTSV(t, "versioned-fields.tsv"), newer...) {
		if row[0] == "MIN_VERB_VERSIONS" || row[1] == "events" {
			continue // verbs are below; events is the name of an endpoint
		}
		since, err := strconv.Atoi(row[2])
		if err != nil {
			t.Fatal(err)
		}
		for minor, want := range map[int]bool{since - 1: false, since: true, nodeapi.MaxMinor: true} {
			_, got := c.must(http.StatusOK, minor, "GET", "/v1/nodes/"+id, "").doc(t)[row[1]]
			if got != want {
				t.Errorf("field %s at 1.%d: shown %v, want %v", row[1], minor, got, want)
			}
			status := http.StatusNotAcceptable
			if want && minor >= 8 {
				status = http.StatusOK
			}
			if r := c.do(minor, "GET", "/v1/nodes/"+id+"?fields="+row[1], ""); r.status != status {
				t.Errorf("?fields=%s at 1.%d: status %d, want %d", row[1], minor, r.status, status)
			}
		}
	}
}

// TestVerbVersions: a verb is a 406 below its microversion.
func TestVerbVersions(t *testing.T) {
	c := newConductor(t)
	id, _ := c.must(http.StatusCreated, 82, "POST", "/v1/nodes", `{"driver":"fake-hardware"}`).doc(t)["uuid"].(string)
	rows := append(readTSV(t, "verbs.tsv"), []string{"unhold", "", "1.85"}, []string{"service", "", "1.87"})
	for _, row := range rows {
		since, err := nodeapi.ParseVersion(row[2])
		if err != nil {
			t.Fatal(err)
		}
		if row[0] == "undeploy" {
			since = 1 // seen to be taken at any version
		}
		for minor, tooOld := range map[int]bool{max(1, since-1): since > 1, since: false} {
			r := c.do(minor, "PUT", "/v1/nodes/"+id+"/states/provision", `{"target":"`+row[0]+`"}`)
			if (r.status == http.StatusNotAcceptable) != tooOld {
				t.Errorf("%s at 1.%d: status %d (too old: %v)", row[0], minor, r.status, tooOld)
			}
			c.settle(id)
		}
	}
}

// TestStateNames: states newer than the client are shown by names that it knows.
func TestStateNames(t *testing.T) {
	c := newConductor(t)
	r := c.must(http.StatusCreated, 1, "POST", "/v1/nodes", `{"driver":"fake-hardware"}`)
	id, _ := r.doc(t)["uuid"].(string)
	for minor, want := range map[int]any{1: nil, 2: "available", 115: "available"} {
		if got := c.must(http.StatusOK, minor, "GET", "/v1/nodes/"+id, "").doc(t)["provision_state"]; got != want {
			t.Errorf("at 1.%d the state is %v, want %v", minor, got, want)
		}
	}
}

func TestNegotiation(t *testing.T) {
	c := newConductor(t)
	for _, tc := range []struct {
		name, version, service string
		status                 int
		used                   string
	}{
		{"none", "", "", 200, "1.1"},
		{"ours", "1.50", "", 200, "1.50"},
		{"common", "", "baremetal 1.50", 200, "1.50"},
		{"common among others", "", "compute 2.1, baremetal 1.33", 200, "1.33"},
		{"of another service", "", "compute 2.1", 200, "1.1"},
		{"both", "1.33", "baremetal 1.50", 200, "1.33"},
		{"latest", "LATEST", "", 200, "1.115"},
		{"newest", "1.115", "", 200, "1.115"},
		{"too new", "1.116", "", 406, ""},
		{"too new, common", "", "baremetal 1.116", 406, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), "GET", c.URL+"/v1/nodes", nil)
			if err != nil {
				t.Fatal(err)
			}
			if tc.version != "" {
				req.Header.Set(nodeapi.HeaderVersion, tc.version)
			}
			if tc.service != "" {
				req.Header.Set(nodeapi.HeaderServiceVersion, tc.service)
			}
			r := c.send(req)
			got := []string{r.header.Get(nodeapi.HeaderVersion), r.header.Get(nodeapi.HeaderMinVersion),
				r.header.Get(nodeapi.HeaderMaxVersion)}
			if diff := cmp.Diff([]string{tc.used, "1.1", "1.115"}, got); r.status != tc.status || diff != "" {
				t.Errorf("status %d, want %d; headers (-want +got):\n%s", r.status, tc.status, diff)
			}
			if id := r.header.Get(nodeapi.HeaderRequestID); (id == "") != (tc.status == 406) {
				t.Errorf("request id %q with status %d", id, r.status)
			}
		})
	}
}

// TestSecrets: secrets are never shown, and are kept.
func TestSecrets(t *testing.T) {
	c := newConductor(t)
	r := c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"redfish","name":"n1","driver_info":{"redfish_address":"http://h","redfish_password":"pa55","deep":{"auth_token":"pa55"}},
		"instance_info":{"configdrive":"pa55","image_url":"http://h/i?temp_url_sig=pa55"}}`)
	for _, path := range []string{"/v1/nodes/n1", "/v1/nodes/detail", "/v1/nodes?detail=True",
		"/ferrite/v1/nodes/n1/status"} {
		r.body += c.must(http.StatusOK, 115, "GET", path, "").body
	}
	r.body += c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/n1",
		`[{"op":"add","path":"/driver_info/redfish_username","value":"u"}]`).body
	if strings.Contains(r.body, "pa55") || strings.Contains(c.Log.String(), "pa55") {
		t.Errorf("a secret was told:\n%s\n%s", r.body, c.Log)
	}
	n, err := c.Engine.Node(t.Context(), "n1")
	if err != nil || n.DriverInfo["redfish_password"] != "pa55" || n.InstanceInfo["configdrive"] != "pa55" {
		t.Errorf("a secret was lost: %v %v %v", n.DriverInfo, n.InstanceInfo, err)
	}
}

// TestPages walks a list page by page, in both directions, and keeps filters.
func TestPages(t *testing.T) {
	c := newConductor(t)
	for i := range 7 {
		c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
			`{"driver":"fake-hardware","resource_class":"r`+strconv.Itoa(i%2)+`","name":"n`+strconv.Itoa(i)+`"}`)
	}
	for query, want := range map[string][]string{
		"limit=2&fields=name,uuid":                                         {"n0", "n1", "n2", "n3", "n4", "n5", "n6"},
		"limit=3&fields=name,uuid&sort_key=name&sort_dir=desc":             {"n6", "n5", "n4", "n3", "n2", "n1", "n0"},
		"limit=2&fields=name,uuid&resource_class=r0":                       {"n0", "n2", "n4", "n6"},
		"limit=1&fields=name,uuid&resource_class=r1&sort_key=name":         {"n1", "n3", "n5"},
		"limit=7&fields=name,uuid":                                         {"n0", "n1", "n2", "n3", "n4", "n5", "n6"},
		"fields=name&driver=fake-hardware&maintenance=false&associated=no": {"n0", "n1", "n2", "n3", "n4", "n5", "n6"},
		"fields=name&conductor=elsewhere":                                  {},
	} {
		got := []string{}
		for next := "/v1/nodes?" + query; next != ""; {
			doc := c.must(http.StatusOK, 115, "GET", next, "").doc(t)
			for _, n := range doc["nodes"].([]any) {
				got = append(got, n.(map[string]any)["name"].(string))
			}
			url, _ := doc["next"].(string)
			next = strings.TrimPrefix(url, c.URL)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}

// TestLimits: bodies that are too large, too deep or cut short.
func TestLimits(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	deep := strings.Repeat(`{"a":`, 30) + "1" + strings.Repeat("}", 30)
	for name, tc := range map[string]struct {
		method, path, body string
		status             int
	}{
		"large node": {
			"POST", "/v1/nodes", `{"driver":"fake-hardware","extra":{"a":"` + strings.Repeat("x", 1<<20) + `"}}`, 413,
		},
		"large patch": {
			"PATCH", "/v1/nodes/n1", `[{"op":"add","path":"/extra/a","value":"` + strings.Repeat("x", 1<<20) + `"}]`, 413,
		},
		"deep node":  {"POST", "/v1/nodes", `{"driver":"fake-hardware","extra":` + deep + `}`, 400},
		"two values": {"PUT", "/v1/nodes/n1/states/provision?target=manage", `{"target":"manage"}`, 400},
		"steps too many": {
			"PATCH", "/v1/nodes/n1", "[" + strings.Repeat(`{"op":"add","path":"/extra/a","value":1},`, 1000) +
				`{"op":"add","path":"/extra/a","value":1}]`, 400,
		},
		"unknown section": {"GET", "/v1/nodes/n1/no/such/part", "", 404},
	} {
		if r := c.do(115, tc.method, tc.path, tc.body); r.status != tc.status {
			t.Errorf("%s: status %d, want %d: %.200s", name, r.status, tc.status, r.body)
		}
	}
}
