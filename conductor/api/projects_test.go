package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestListsAreNarrowed: a project's users see only its records in every list, with any filter. Users of the system see
// all.
func TestListsAreNarrowed(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	if _, err := g.Engine.CreateNode(t.Context(), node.Node{Name: "nobodys", Driver: "fake-hardware"}); err != nil {
		t.Fatal(err)
	}
	count := func(r reply) string {
		if r.status != http.StatusOK {
			return fmt.Sprint(r.status)
		}
		for _, key := range []string{"nodes", "ports", "runbooks", "portgroups", "connectors", "targets", "allocations"} {
			if list, ok := r.doc(t)[key].([]any); ok {
				return fmt.Sprint(len(list))
			}
		}
		return r.body
	}
	got := map[string]string{}
	for _, path := range []string{
		"/v1/nodes", "/v1/nodes/detail", "/v1/nodes?owner=" + owner, "/v1/nodes?project=" + owner,
		"/v1/nodes?project=" + lessee,
		"/v1/ports", "/v1/ports/detail", "/v1/ports?sort_key=address", "/v1/ports?node=" + e.node,
		"/v1/ports?node_uuid=" + e.node, "/v1/ports?address=" + e.mac,
		"/v1/runbooks", "/v1/portgroups", "/v1/portgroups/detail", "/v1/portgroups?node=" + e.node,
		"/v1/nodes/" + e.node + "/portgroups",
		"/v1/ports?portgroup=" + e.portgroup, "/v1/portgroups/" + e.portgroup + "/ports",
		"/v1/volume/connectors", "/v1/volume/connectors?node=" + e.node, "/v1/volume/targets",
		"/v1/volume/targets?detail=true", "/v1/nodes/" + e.node + "/volume/targets",
		"/v1/allocations", "/v1/allocations?resource_class=none", "/v1/allocations?owner=" + owner,
		"/v1/allocations?node=" + e.node,
	} {
		var row []string
		for _, project := range []string{"", owner, lessee, other} {
			row = append(row, count(g.as("reader "+project, http.MethodGet, path, "")))
		}
		got[strings.NewReplacer(e.node, "NODE", e.portgroup, "PORTGROUP").Replace(path)] = strings.Join(row, " ")
	}
	want := map[string]string{ // the system, owner, lessee, others
		"/v1/nodes":                   "2 1 1 0",
		"/v1/nodes/detail":            "2 1 1 0",
		"/v1/nodes?owner=" + owner:    "1 1 1 0",
		"/v1/nodes?project=" + owner:  "1 1 403 403",
		"/v1/nodes?project=" + lessee: "1 403 1 403",
		"/v1/ports":                   "1 1 1 0",
		"/v1/ports/detail":            "1 1 1 0",
		"/v1/ports?sort_key=address":  "1 1 1 0",
		"/v1/ports?node=NODE":         "1 1 1 404",
		"/v1/ports?node_uuid=NODE":    "1 1 1 404",
		"/v1/ports?address=" + e.mac:  "1 1 1 0",
		"/v1/runbooks":                "1 1 0 0",

		"/v1/portgroups":                      "1 1 1 0",
		"/v1/portgroups/detail":               "1 1 1 0",
		"/v1/portgroups?node=NODE":            "1 1 1 404",
		"/v1/nodes/NODE/portgroups":           "1 1 1 404",
		"/v1/ports?portgroup=PORTGROUP":       "0 0 0 404",
		"/v1/portgroups/PORTGROUP/ports":      "0 0 0 404",
		"/v1/volume/connectors":               "1 1 1 0",
		"/v1/volume/connectors?node=NODE":     "1 1 1 404",
		"/v1/volume/targets":                  "1 1 1 0",
		"/v1/volume/targets?detail=true":      "1 1 1 0",
		"/v1/nodes/NODE/volume/targets":       "1 1 1 404",
		"/v1/allocations":                     "1 1 0 0",
		"/v1/allocations?resource_class=none": "1 1 0 0",
		"/v1/allocations?owner=" + owner:      "1 1 403 403",
		"/v1/allocations?node=NODE":           "0 0 0 400",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("how many are seen (-want +got):\n%s", diff)
	}
	g.as("operator ", http.MethodPatch, "/v1/runbooks/"+e.runbook, `[{"op":"add","path":"/public","value":true}]`)
	if n := count(g.as("reader "+other, http.MethodGet, "/v1/runbooks", "")); n != "1" {
		t.Errorf("of a public runbook others see %s", n)
	}
	if r := g.as("admin "+other, http.MethodDelete, "/v1/runbooks/"+e.runbook, ""); r.status != http.StatusForbidden {
		t.Errorf("others delete a public runbook: %d %s", r.status, r.body)
	}
}

// TestMarkers: a page after a record that a project may not see would reveal the record's place in the order of any
// field. So its users get a 404 for such a marker.
func TestMarkers(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	for path, known := range map[string]string{
		"/v1/nodes?": e.node, "/v1/nodes/detail?": e.node, "/v1/ports?": e.port, "/v1/ports?sort_key=address&": e.port,
		"/v1/portgroups?": e.portgroup, "/v1/volume/connectors?": e.connector, "/v1/volume/targets?": e.target,
	} {
		for who, want := range map[string]int{"reader ": http.StatusOK, "reader " + owner: http.StatusOK,
			"reader " + lessee: http.StatusOK, "reader " + other: http.StatusNotFound} {
			r := g.as(who, http.MethodGet, path+"marker="+known, "")
			if r.status != want {
				t.Errorf("%s of %s: %d %s, want %d", path, who, r.status, r.body, want)
			}
			if want == http.StatusOK {
				continue
			}
			const unknown = "11111111-1111-4111-8111-111111111111"
			if same := g.as(who, http.MethodGet, path+"marker="+unknown, ""); strings.ReplaceAll(same.body, unknown,
				known) != r.body {
				t.Errorf("%s of %s: %s, but for what is not there %s", path, who, r.body, same.body)
			}
		}
	}
}

// sold is a conductor in which a node changes hands just before it is edited.
type sold struct{ api.Conductor }

func (s sold) UpdateNode(ctx context.Context, ref string, edit func(*node.Node) error) (node.Node, error) {
	if _, err := s.Conductor.UpdateNode(ctx, ref, func(n *node.Node) error { n.Owner = other; return nil }); err != nil {
		return node.Node{}, err
	}
	return s.Conductor.UpdateNode(ctx, ref, edit)
}

// TestPatchOfSoldNode: the owner at the write counts, not the owner at the read.
func TestPatchOfSoldNode(t *testing.T) {
	g := newGuardedConductor(t, func(o *api.Options) { o.Conductor = sold{o.Conductor} })
	id := g.estate().node
	for path, want := range map[string]int{"/driver_info/redfish_address": http.StatusNotFound,
		"/description": http.StatusNotFound} {
		if r := g.as("admin "+owner, http.MethodPatch, "/v1/nodes/"+id,
			`[{"op":"add","path":"`+path+`","value":"x"}]`); r.status != want {
			t.Errorf("%s: %d %s, want %d", path, r.status, r.body, want)
		}
		if _, err := g.Engine.UpdateNode(t.Context(), id, func(n *node.Node) error {
			if n.DriverInfo["redfish_address"] != nil || n.Description != "" {
				t.Errorf("%s was written", path)
			}
			n.Owner = owner
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLesseeSeesLess: a lessee does not see the BMC of a node, in the node or in a list, whichever caller has asked
// before.
func TestLesseeSeesLess(t *testing.T) {
	g := newGuardedConductor(t)
	id := g.estate().node
	if _, err := g.Engine.UpdateNode(t.Context(), id, func(n *node.Node) error {
		n.DriverInfo, n.LastError = map[string]any{"address": "10.1.1.1", "password": "hunter2"}, "BMC 10.1.1.1 is silent"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // an answer may be kept
		for _, path := range []string{
			"/v1/nodes/" + id, "/v1/nodes/" + id + "?fields=driver_info,last_error,driver_internal_info,reservation",
			"/v1/nodes/detail", "/v1/nodes/" + id + "/states",
		} {
			for who, sees := range map[string]bool{"reader ": true, "reader " + owner: true, "admin " + lessee: false} {
				body := g.as(who, http.MethodGet, path, "").body
				if strings.Contains(body, "10.1.1.1") != sees || strings.Contains(body, "hunter2") {
					t.Errorf("%s of %s: %s", path, who, body)
				}
				if redacted := strings.Contains(body, "requires baremetal:node:get:last_error permission"); redacted == sees {
					t.Errorf("%s of %s says it is redacted: %v", path, who, redacted)
				}
			}
		}
	}
}

// TestFieldsUnderRules: a caller that may change a node may not change every field.
func TestFieldsUnderRules(t *testing.T) {
	g := newGuardedConductor(t)
	for what, tc := range map[string]struct{ who, path, value, denied string }{
		"a lessee's description": {"operator " + lessee, "/description", `"x"`, ""},
		"a lessee's extra":       {"operator " + lessee, "/extra/x", `1`, ""},
		"a lessee's instance_info": {"operator " + lessee, "/instance_info/x", `1`,
			"baremetal:node:update_instance_info"},
		"the same by his admin":  {"admin " + lessee, "/instance_info/x", `1`, ""},
		"a lessee's driver_info": {"admin " + lessee, "/driver_info/x", `1`, "baremetal:node:update:driver_info"},
		"the same by the owner":  {"operator " + owner, "/driver_info/x", `1`, ""},
		"an owner's interface": {"operator " + owner, "/power_interface", `"fake"`,
			"baremetal:node:update:driver_interfaces"},
		"the same by the owner's admin":   {"admin " + owner, "/power_interface", `"fake"`, ""},
		"an owner gives away":             {"admin " + owner, "/owner", `"x"`, "baremetal:node:update:owner"},
		"the system gives away":           {"operator ", "/owner", `"x"`, ""},
		"an owner lends":                  {"operator " + owner, "/lessee", `"x"`, ""},
		"a lessee lends on":               {"admin " + lessee, "/lessee", `"x"`, "baremetal:node:update:lessee"},
		"an operator spares the cleaning": {"operator ", "/automated_clean", `false`, "baremetal:node:disable_cleaning"},
		"the same, in a word":             {"operator ", "/automated_clean", `"no"`, "baremetal:node:disable_cleaning"},
		"an operator asks for cleaning":   {"operator ", "/automated_clean", `true`, ""},
		"an admin spares the cleaning":    {"admin ", "/automated_clean", `false`, ""},
		"a shard":                         {"operator ", "/shard", `"x"`, "baremetal:node:update:shard"},
		"a reader":                        {"reader ", "/extra/x", `1`, "baremetal:node:update"},
	} {
		t.Run(what, func(t *testing.T) {
			g.t = t
			id := g.estate().node
			r := g.as(tc.who, http.MethodPatch, "/v1/nodes/"+id, `[{"op":"add","path":"`+tc.path+`","value":`+tc.value+`}]`)
			want, text := http.StatusOK, ""
			if tc.denied != "" {
				want, text = http.StatusForbidden, "Access was denied to the following resource: "+tc.denied
			}
			if r.status != want || tc.denied != "" && r.text() != text {
				t.Errorf("%d %s, want %d %s", r.status, r.body, want, text)
			}
		})
	}
}

// TestOwnerInCreate: a node that a project's admin enrolls belongs to the project, and to no other.
func TestOwnerInCreate(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	for what, tc := range map[string]struct {
		who, more string
		status    int
		owner     any
	}{
		"a project's":        {"admin " + other, ``, http.StatusCreated, other},
		"the same, said":     {"admin " + other, `,"owner":"` + other + `"`, http.StatusCreated, other},
		"another project's":  {"admin " + other, `,"owner":"` + owner + `"`, http.StatusBadRequest, nil},
		"a child of another": {"admin " + other, `,"parent_node":"` + e.node + `"`, http.StatusBadRequest, nil},
		"a child of his own": {"admin " + owner, `,"parent_node":"` + e.node + `"`, http.StatusCreated, owner},
		"the system's":       {"admin ", ``, http.StatusCreated, nil},
		"given at once":      {"admin ", `,"owner":"` + owner + `"`, http.StatusCreated, owner},
		"by an operator":     {"operator ", ``, http.StatusForbidden, nil},
		"a host's name":      {"admin " + other, `,"name":"metal~host-9"`, http.StatusBadRequest, nil},
		"that of the system": {"admin ", `,"name":"metal~host-9"`, http.StatusCreated, nil},
	} {
		r := g.as(tc.who, http.MethodPost, "/v1/nodes", `{"driver":"fake-hardware"`+tc.more+`}`)
		if r.status != tc.status || r.status == http.StatusCreated && r.doc(t)["owner"] != tc.owner {
			t.Errorf("%s: %d %s", what, r.status, r.body)
		}
	}
	r := g.as("admin "+owner, http.MethodPatch, "/v1/nodes/"+e.node, `[{"op":"add","path":"/name","value":"metal~host-8"}]`)
	if r.status != http.StatusBadRequest || !strings.Contains(string(r.body), "expected another name") {
		t.Errorf("renamed as a host's: %d %s", r.status, r.body)
	}
	step := `"steps":[{"interface":"bios","step":"factory_reset","args":{},"order":1}]`
	for what, tc := range map[string]struct {
		body   string
		status int
	}{
		"a runbook":         {`{"name":"CUSTOM_A",` + step + `}`, http.StatusCreated},
		"another project's": {`{"name":"CUSTOM_B","owner":"` + owner + `",` + step + `}`, http.StatusBadRequest},
		// as it would be without it, and as Ironic has it; to change it is the system's
		"nobody else's":       {`{"name":"CUSTOM_D","public":false,` + step + `}`, http.StatusCreated},
		"one for everybody's": {`{"name":"CUSTOM_C","public":true,` + step + `}`, http.StatusBadRequest},
	} {
		r := g.as("admin "+other, http.MethodPost, "/v1/runbooks", tc.body)
		if r.status != tc.status || r.status == http.StatusCreated && r.doc(t)["owner"] != other {
			t.Errorf("%s: %d %s", what, r.status, r.body)
		}
	}
}

// TestRunbookOfOthers: a node's owner cannot use the runbook of another project.
func TestRunbookOfOthers(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	if _, err := g.Engine.Catalogs().Runbooks.Update(t.Context(), e.runbook,
		func(r *node.Runbook) error { r.Owner = other; return nil }); err != nil {
		t.Fatal(err)
	}
	g.as("admin "+owner, http.MethodPut, "/v1/nodes/"+e.node+"/states/provision", `{"target":"manage"}`)
	g.settle(e.node)
	ask := func() reply {
		return g.as("admin "+owner, http.MethodPut, "/v1/nodes/"+e.node+"/states/provision",
			`{"target":"clean","runbook":"`+e.runbook+`"}`)
	}
	for _, ref := range []string{e.runbook, "CUSTOM_NONE"} { // the answers are the same
		r := g.as("admin "+owner, http.MethodPut, "/v1/nodes/"+e.node+"/states/provision",
			`{"target":"clean","runbook":"`+ref+`"}`)
		if r.status != http.StatusNotFound || !strings.HasSuffix(r.text(), "Runbook "+ref+" could not be found.") {
			t.Errorf("another's: %d %s", r.status, r.body)
		}
		for _, a := range [][3]string{{http.MethodPatch, "", `[{"op":"add","path":"/extra","value":{}}]`},
			{http.MethodDelete, "", ""}, {http.MethodGet, "", ""}, {http.MethodPut, "/traits", `{"traits":[]}`},
			{http.MethodGet, "/traits", ""}, {http.MethodPut, "/traits/CUSTOM_A", ""}, {http.MethodDelete, "/traits", ""}} {
			if r := g.as("admin "+owner, a[0], "/v1/runbooks/"+ref+a[1], a[2]); r.status != http.StatusNotFound {
				t.Errorf("%s %s of another's: %d %s", a[0], a[1], r.status, r.body)
			}
		}
	}
	if _, err := g.Engine.Catalogs().Runbooks.Update(t.Context(), e.runbook,
		func(r *node.Runbook) error { r.Owner, r.Public = "", true; return nil }); err != nil {
		t.Fatal(err)
	}
	if r := ask(); r.status == http.StatusForbidden {
		t.Errorf("a public one: %d %s", r.status, r.body)
	}
}

// TestUserInHistory: the history of a node names the user that requested an activity.
func TestUserInHistory(t *testing.T) {
	g := newGuardedConductor(t)
	id := g.estate().node
	if r := g.as("operator "+owner, http.MethodPut, "/v1/nodes/"+id+"/states/provision",
		`{"target":"manage"}`); r.status != http.StatusAccepted {
		t.Fatal(r.body)
	}
	g.settle(id)
	var got []string
	entries, err := g.Engine.History(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, _, _ := strings.Cut(e.Event, " in ")
		got = append(got, text+" "+e.User)
	}
	if diff := cmp.Diff([]string{"verify started operator " + owner, "verify done "}, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	shown := g.as("reader ", http.MethodGet, "/v1/nodes/"+id+"/history?detail=true", "").body
	if !strings.Contains(shown, `"user":"operator `+owner+`"`) {
		t.Errorf("history %s", shown)
	}
}

// TestOwnerOfActive: only an admin of the system can change the owner of an active node.
func TestOwnerOfActive(t *testing.T) {
	g := newGuardedConductor(t)
	id := g.estate().node
	g.provision(id, "manage", "provide", "active")
	patch := `[{"op":"replace","path":"/owner","value":"x"}]`
	if r := g.as("operator ", http.MethodPatch, "/v1/nodes/"+id, patch); r.status != http.StatusConflict {
		t.Errorf("an operator: %d %s", r.status, r.body)
	}
	if r := g.as("admin ", http.MethodPatch, "/v1/nodes/"+id, patch); r.status != http.StatusOK {
		t.Errorf("an admin: %d %s", r.status, r.body)
	}
}
