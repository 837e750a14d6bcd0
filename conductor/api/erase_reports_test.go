package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestEraseReports: a report is found by its node and by itself, opens with the
// key that is served, and stays when the node goes.
func TestEraseReports(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	list := func(ident string) (w nodeapi.EraseReports) {
		t.Helper()
		r := c.must(http.StatusOK, 0, "GET", "/ferrite/v1/nodes/"+ident+"/erase-reports", "")
		if err := json.Unmarshal([]byte(r.body), &w); err != nil {
			t.Fatal(err)
		}
		return w
	}
	if r := c.must(http.StatusOK, 0, "GET", "/ferrite/v1/nodes/n1/erase-reports", ""); r.body != `{"erase_reports":[]}` {
		t.Errorf("none yet: %s", r.body)
	}
	first, second := c.Erased(t, "n1", false), c.Erased(t, "n1", true)
	got := list("n1").EraseReports
	if len(got) != 2 || got[0].UUID != first || got[0].Failed || got[0].Erased != 2 || got[0].Skipped != 1 ||
		got[0].Errors != 0 ||
		got[1].UUID != second || !got[1].Failed || got[1].Errors != 1 || got[1].NodeName != "n1" {
		t.Errorf("%+v", got)
	}
	var key nodeapi.EraseKey
	if err := json.Unmarshal([]byte(c.must(http.StatusOK, 0, "GET", "/ferrite/v1/erase-key", "").body), &key); err != nil {
		t.Fatal(err)
	}
	public, err := nodeapi.ParseEraseKey([]byte(key.PublicKey))
	if err != nil || key.KeyID != got[0].KeyID || key.Algorithm != "ed25519" {
		t.Errorf("%v %+v", err, key)
	}
	id := got[0].NodeUUID
	c.must(http.StatusNoContent, 115, "DELETE", "/v1/nodes/n1", "")
	document := c.must(http.StatusOK, 0, "GET", "/ferrite/v1/erase-reports/"+strings.ToUpper(first), "").body
	statement, err := nodeapi.OpenEraseReport([]byte(document), public)
	if err != nil || statement.NodeUUID != id {
		t.Fatalf("%v: %s", err, document)
	}
	var report agentapi.EraseReport
	if err := json.Unmarshal(statement.Report, &report); err != nil || report.Validate() != nil ||
		report.Machine.Product != "Anvil <9>" {
		t.Errorf("%v %s", err, statement.Report)
	}
	if n := len(list(id).EraseReports); n != 2 {
		t.Errorf("%d reports of a node that is no more, want 2", n)
	}
	for path, what := range map[string]string{
		"nodes/n1/erase-reports": "Node n1", "nodes/" + first + "/erase-reports": "Node " + first,
		"erase-reports/" + id: "Erase report " + id, "erase-reports/x": "Erase report x",
	} {
		if r := c.do(0, "GET", "/ferrite/v1/"+path, ""); r.status != http.StatusNotFound ||
			r.text() != what+" could not be found." {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
}

// TestAllEraseReports: the reports of all nodes are listed in pages, from either end. Reports of deleted nodes are
// among them.
func TestAllEraseReports(t *testing.T) {
	c := newConductor(t)
	ids := make([]string, 5)
	for i, name := range []string{"n1", "n2", "n1", "n2", "n3"} {
		if i < 2 || name == "n3" {
			c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"`+name+`"}`)
		}
		ids[i] = c.Erased(t, name, i == 1)
	}
	n2, err := c.Engine.Node(t.Context(), "n2")
	if err != nil {
		t.Fatal(err)
	}
	c.must(http.StatusNoContent, 115, "DELETE", "/v1/nodes/n2", "")
	for query, want := range map[string][]string{
		"": ids, "?sort_dir=desc&limit=2": {ids[4], ids[3]}, "?limit=2&marker=" + ids[1]: {ids[2], ids[3]},
		"?node=n1": {ids[0], ids[2]}, "?node=" + strings.ToUpper(n2.UUID): {ids[1], ids[3]},
		"?sort_key=signed_at&marker=" + strings.ToUpper(ids[3]): {ids[4]}, "?node=" + ids[0]: {},
	} {
		var got nodeapi.EraseReports
		r := c.must(http.StatusOK, 0, "GET", "/ferrite/v1/erase-reports"+query, "")
		if err := json.Unmarshal([]byte(r.body), &got); err != nil {
			t.Fatal(err)
		}
		have := []string{}
		for _, s := range got.EraseReports {
			have = append(have, s.UUID)
		}
		if !slices.Equal(have, want) || (got.Next != "") != strings.Contains(query, "limit=2") {
			t.Errorf("%q: %s, want %v", query, r.body, want)
		}
	}
	var all []string
	for next := "/ferrite/v1/erase-reports?limit=2&sort_dir=desc"; next != ""; {
		var page nodeapi.EraseReports
		if err := json.Unmarshal([]byte(c.must(http.StatusOK, 0, "GET", next, "").body), &page); err != nil {
			t.Fatal(err)
		}
		for _, s := range page.EraseReports {
			all = append([]string{s.UUID}, all...)
		}
		if next = page.Next; next != "" {
			next = next[strings.Index(next, "/ferrite/"):]
		}
	}
	if !slices.Equal(all, ids) {
		t.Errorf("page after page: %v, want %v", all, ids)
	}
	for query, want := range map[string]int{"limit=x": 400, "limit=0": 400, "marker=x": 400, "sort_key=erased": 400,
		"sort_dir=up": 400, "marker=" + n2.UUID: 404, "node=n2": 404, "nodes=n1": 400, "node=%00": 400} {
		if r := c.do(0, "GET", "/ferrite/v1/erase-reports?"+query, ""); r.status != want {
			t.Errorf("%s: %d %s, want %d", query, r.status, r.body, want)
		}
	}
}

// TestAllEraseReportsOfProjects: a project's users see the reports of its nodes in the list of all, and cannot page
// after another project's.
func TestAllEraseReportsOfProjects(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	id := g.Erased(t, e.node, false)
	see := func(want ...bool) {
		t.Helper()
		for i, project := range []string{"", owner, lessee, other} {
			r := g.as("reader "+project, "GET", "/ferrite/v1/erase-reports", "")
			if r.status != http.StatusOK || strings.Contains(r.body, id) != want[i] {
				t.Errorf("reader of %q: %d %s, want the report: %v", project, r.status, r.body, want[i])
			}
			status := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[want[i]]
			if r := g.as("reader "+project, "GET", "/ferrite/v1/erase-reports?marker="+id, ""); r.status != status {
				t.Errorf("reader of %q pages after it: %d %s, want %d", project, r.status, r.body, status)
			}
		}
	}
	see(true, true, true, false)
	if err := g.Engine.DeleteNode(t.Context(), e.node); err != nil {
		t.Fatal(err)
	}
	see(true, false, false, false)
}

// TestEraseReportsOfOthers: a report is as visible as its node. Once the node is deleted, no caller with a project sees
// it.
func TestEraseReportsOfOthers(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	id := g.Erased(t, e.node, false)
	statuses := func() (got [4]int) {
		for i, project := range []string{"", owner, lessee, other} {
			got[i] = g.as("reader "+project, "GET", "/ferrite/v1/erase-reports/"+id, "").status
			if list := g.as("reader "+project, "GET", "/ferrite/v1/nodes/"+e.node+"/erase-reports", ""); list.status != got[i] {
				t.Errorf("reader of %q: the report %d, the list %d %s", project, got[i], list.status, list.body)
			}
		}
		return got
	}
	if got := statuses(); got != [4]int{200, 200, 200, 404} {
		t.Errorf("of a node: %v", got)
	}
	if err := g.Engine.DeleteNode(t.Context(), e.node); err != nil {
		t.Fatal(err)
	}
	if got := statuses(); got != [4]int{200, 404, 404, 404} {
		t.Errorf("of a node that is no more: %v", got)
	}
	if r := g.as("", "GET", "/ferrite/v1/erase-key", ""); r.status != http.StatusOK ||
		strings.Contains(r.body, "PRIVATE") {
		t.Errorf("the key for a stranger: %d %s", r.status, r.body)
	}
}
