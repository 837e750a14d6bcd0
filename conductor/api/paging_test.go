package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// furnish gives a conductor three of everything that is listed.
func (c *conductor) furnish() {
	c.t.Helper()
	add := func(path, body string) {
		c.t.Helper()
		c.must(http.StatusCreated, 115, "POST", "/v1/"+path, body)
	}
	add("chassis", `{"uuid":"`+fuzzNode+`"}`)
	add("nodes", `{"driver":"fake-hardware","name":"n0","uuid":"`+fuzzNode+`","chassis_uuid":"`+fuzzNode+
		`","shard":"s","owner":"p"}`)
	for i := range 3 {
		of := func(rest string, more ...any) string {
			return fmt.Sprintf(`{"extra":{"i":%d},`+rest+`}`, append([]any{i}, more...)...)
		}
		add("nodes", of(`"driver":"fake-hardware","name":"n%d","chassis_uuid":%q,"shard":"s","owner":"p"`, i+1, fuzzNode))
		add("portgroups", of(`"name":"g%d","node_uuid":%q`, i, fuzzNode))
		add("ports", of(`"address":"52:54:00:00:00:0%d","node_uuid":%q,"description":"word"`, i, fuzzNode))
		add("chassis", of(`"description":"word"`))
		add("volume/connectors", of(`"node_uuid":%q,"type":"iqn","connector_id":"c%d"`, fuzzNode, i))
		add("volume/targets", of(`"node_uuid":%q,"volume_type":"iscsi","volume_id":"v","boot_index":%d`, fuzzNode, i))
		add("allocations", of(`"resource_class":"none","owner":"p"`))
		add("deploy_templates", of(`"name":"CUSTOM_T%d",`+oneStep, i))
		add("runbooks", of(`"name":"b%d",`+bookStep, i))
		add("inspection_rules", `{"description":"word",`+oneAction+`}`)
	}
	group := c.must(http.StatusOK, 115, "GET", "/v1/portgroups/g0", "").doc(c.t)["uuid"].(string)
	for _, p := range c.must(http.StatusOK, 115, "GET", "/v1/ports", "").doc(c.t)["ports"].([]any) {
		c.must(http.StatusOK, 115, "PATCH", "/v1/ports/"+p.(map[string]any)["uuid"].(string),
			`[{"op":"add","path":"/portgroup_uuid","value":"`+group+`"}]`)
	}
	c.provision("n0", "manage", "provide", "manage")
	for _, a := range c.must(http.StatusOK, 115, "GET", "/v1/allocations", "").doc(c.t)["allocations"].([]any) {
		if got := c.allocated(a.(map[string]any)["uuid"].(string)); got.State != node.AllocationError {
			c.t.Fatalf("an allocation of no class has a node: %+v", got)
		}
	}
}

// TestEveryListInPages: pages that follow next from the first one have the same records as one long page. This holds
// for every list, with every filter, order and selection of fields. next keeps the arguments of the first request.
func TestEveryListInPages(t *testing.T) {
	c := newConductor(t)
	c.furnish()
	const ofNode = "/v1/nodes/" + fuzzNode
	for path, queries := range map[string][]string{
		"/v1/nodes": {"", "shard=s&fields=uuid,extra", "owner=p&sort_key=name&sort_dir=desc",
			"detail=true&sort_key=name"},
		"/v1/nodes/detail":                   {"", "shard=s&sort_dir=desc"},
		"/v1/chassis/" + fuzzNode + "/nodes": {"", "shard=s&fields=name"},
		"/v1/ports": {"", "description_contains=word&fields=address,extra",
			"node=n0&sort_key=address&sort_dir=desc", "portgroup=g0&detail=true", "node_uuid=" + fuzzNode},
		"/v1/ports/detail":       {"", "sort_dir=desc"},
		ofNode + "/ports":        {"", "fields=address", "sort_key=address&sort_dir=desc", "detail=true"},
		ofNode + "/ports/detail": {""},
		"/v1/portgroups": {"", "node=n0&fields=name,extra", "sort_key=name&sort_dir=desc",
			"shard=s&detail=true"},
		"/v1/portgroups/detail":          {"", "shard=s"},
		"/v1/portgroups/g0/ports":        {"", "fields=address&sort_dir=desc"},
		"/v1/portgroups/g0/ports/detail": {""},
		ofNode + "/portgroups":           {"", "fields=name&sort_key=name"},
		ofNode + "/portgroups/detail":    {""},
		"/v1/chassis":                    {"", "fields=uuid,extra", "sort_key=uuid&sort_dir=desc", "detail=true"},
		"/v1/chassis/detail":             {""},
		"/v1/volume/connectors": {"", "node=n0&fields=connector_id", "sort_key=connector_id&sort_dir=desc",
			"detail=true"},
		"/v1/volume/targets": {"", "node=n0&fields=boot_index", "sort_key=boot_index&sort_dir=desc",
			"detail=true"},
		ofNode + "/volume/connectors": {"", "detail=true"},
		ofNode + "/volume/targets":    {"", "fields=boot_index&sort_key=boot_index"},
		"/v1/allocations": {"", "resource_class=none&state=error&fields=uuid,extra",
			"owner=p&sort_key=uuid&sort_dir=desc"},
		"/v1/deploy_templates":     {"", "fields=name,extra", "sort_key=name&sort_dir=desc", "detail=true"},
		"/v1/runbooks":             {"", "fields=name,extra", "sort_key=name&sort_dir=desc", "detail=true"},
		"/v1/inspection_rules":     {"", "detail=true"},
		ofNode + "/history":        {"", "detail=true&sort_dir=desc", "sort_key=event"},
		ofNode + "/history/detail": {""},
	} {
		for _, query := range queries {
			whole, last := c.listed(path + "?" + query)
			if last != "" || len(whole) < 3 {
				t.Errorf("%s?%s: %d at once, next %q", path, query, len(whole), last)
			}
			var pages []any
			for next := path + "?limit=1&" + query; next != "" && len(pages) <= len(whole); {
				var page []any
				page, next = c.listed(next)
				if len(page) != 1 {
					t.Errorf("%s?%s: a page of %d", path, query, len(page))
				}
				pages = append(pages, page...)
				if next != "" && !keeps(t, next, path, query) {
					t.Errorf("%s?%s: next is %s", path, query, next)
				}
			}
			if diff := cmp.Diff(whole, pages); diff != "" {
				t.Errorf("%s?%s (-at once +page by page):\n%s", path, query, diff)
			}
		}
	}
}

// TestConductorsInPages: a client that pages by the last host it has seen comes to an end.
func TestConductorsInPages(t *testing.T) {
	c := newConductor(t)
	for query, want := range map[string]int{"limit=1": 1, "limit=1&marker=conductor-1": 0} {
		if got, next := c.listed("/v1/conductors?" + query); len(got) != want || next != "" {
			t.Errorf("%s: %v, next %q", query, got, next)
		}
	}
	c.must(http.StatusNotFound, 115, "GET", "/v1/conductors?marker=nobody", "")
}

// keeps reports whether the URL of the next page has the arguments of the first.
func keeps(t *testing.T, next, path, query string) bool {
	t.Helper()
	u, err := url.Parse(next)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for name := range asked {
		if q.Get(name) != asked.Get(name) || len(q[name]) != 1 {
			return false
		}
	}
	return u.Path == path && q.Get("limit") == "1" && q.Get("marker") != "" && len(q["marker"]) == 1
}

// listed is the items of a page, and where the next is, "" after the last.
func (c *conductor) listed(path string) (items []any, next string) {
	c.t.Helper()
	for key, value := range c.must(http.StatusOK, 115, "GET", path, "").doc(c.t) {
		switch v := value.(type) {
		case []any:
			items = v
		case string:
			if key != "next" || !strings.HasPrefix(v, c.URL) {
				c.t.Errorf("GET %s: %s is %s", path, key, v)
			}
			next = strings.TrimPrefix(v, c.URL)
		}
	}
	return items, next
}
