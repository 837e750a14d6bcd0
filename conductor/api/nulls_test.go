package api_test

import (
	"encoding/json"
	"net/http"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// kinds is under which keys of answers there was null, and under which a list or
// an object.
type kinds struct{ null, made map[string]bool }

func (k kinds) walk(key string, v any) {
	switch v := v.(type) {
	case nil:
		k.null[key] = true
	case []any:
		k.made[key] = true
		for _, item := range v {
			k.walk(key+"[]", item)
		}
	case map[string]any:
		k.made[key] = true
		for name, item := range v {
			k.walk(name, item)
		}
	}
}

// TestNullLists reads every resource, once with all fields and once with none. A list or an object of the first is []
// or {} in the second.
func TestNullLists(t *testing.T) {
	found := kinds{map[string]bool{}, map[string]bool{}}
	full, bare := readDocument(t, newConductor(t)), readDocument(t, newConductor(t))
	full.fill()
	bare.BMC.NoDrives()
	for _, r := range [][2]string{
		{"/v1/nodes", `{"driver":"fake-hardware","name":"n1","uuid":"` + fuzzNode + `"}`},
		{"/v1/chassis", `{"uuid":"` + fuzzNode + `"}`},
		{"/v1/ports", `{"address":"52:54:00:00:00:01","node_uuid":"` + fuzzNode + `","uuid":"` + fuzzNode + `"}`},
		{"/v1/portgroups", `{"node_uuid":"` + fuzzNode + `","uuid":"` + fuzzNode + `"}`},
		{"/v1/allocations", `{"resource_class":"none","uuid":"` + fuzzNode + `"}`},
	} {
		bare.must(http.StatusCreated, 115, "POST", r[0], r[1])
	}
	for _, d := range []*document{full, bare} {
		for path := range d.root["paths"].(map[string]any) { //nolint:forcetypeassert // or there is no document
			url := strings.NewReplacer("{node}", "n1", "{driver}", "fake-hardware", "{host}", "conductor-1", "{ident}", fuzzNode,
				"{port}", fuzzNode).Replace(path)
			if d.at("paths", path, "get") == nil || strings.Contains(url, "{") || strings.Contains(url, "openapi") {
				continue
			}
			for _, query := range []string{"", "?detail=true"} {
				r := d.do(115, "GET", url+query, "")
				var doc any
				if r.status == http.StatusOK && json.Unmarshal([]byte(r.body), &doc) == nil {
					found.walk(path, doc)
				}
			}
		}
	}
	var both []string
	for key := range found.null {
		if found.made[key] {
			both = append(both, key)
		}
	}
	sort.Strings(both)
	if d := cmp.Diff([]string{"actions", "conditions"}, both); d != "" { // of a sensitive rule, which Ironic hides so
		t.Errorf("null here, and a list or an object there (-want +got):\n%s", d)
	}
	if len(found.null) < 20 || len(found.made) < 20 {
		t.Errorf("%d keys have null, %d lists or objects: too few to have looked", len(found.null), len(found.made))
	}
}

// TestInventoryLists: lists that a ramdisk leaves out of an inventory, or sends as null, are empty lists.
func TestInventoryLists(t *testing.T) {
	store := mem.New()
	c := &conductor{t: t, Conductor: apitest.Start(t, store, nil)}
	for sent, want := range map[string]string{
		``:     `{"inventory":{},"plugin_data":{}}`,
		`null`: `{"inventory":{},"plugin_data":{}}`,
		`{"interfaces":null,"disks":null,"cpu":{"flags":null,"count":9007199254740993}}`:     `{"inventory":{"cpu":{"count":9007199254740993,"flags":[]},"disks":[],"interfaces":[]},"plugin_data":{}}`,
		`{"interfaces":[{"name":"a","lldp":null}],"disks":[],"hostname":null,"memory":null}`: `{"inventory":{"disks":[],"hostname":null,"interfaces":[{"lldp":[],"name":"a"}],"memory":null},"plugin_data":{}}`,
	} {
		n, err := c.Engine.CreateNode(t.Context(), node.Node{Driver: "fake-hardware"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Commit(t.Context(),
			node.Change{Save: &n, Inspected: &node.Inspected{Inventory: []byte(sent)}}); err != nil {
			t.Fatal(err)
		}
		if got := c.must(http.StatusOK, 82, "GET", "/v1/nodes/"+n.UUID+"/inventory", "").body; got != want {
			t.Errorf("%s is shown as\n%s, want\n%s", sent, got, want)
		}
	}
}
