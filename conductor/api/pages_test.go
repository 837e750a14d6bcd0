package api_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/api/audit"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// fat is text of nearly as many bytes as a field may have.
var fat = strings.Repeat("x", nodeapi.MaxField-100)

// fatRecords makes ten records of each kind, as long as the API takes them: 30 lists of 0.6 to 2.5 MB.
func fatRecords(t *testing.T, c *conductor) (node string) {
	const each = 10
	extra := `"extra":{"a":"` + fat + `"}`
	var ids []string
	for i := range each {
		name := fmt.Sprintf("fat-%d", i)
		body := `{"driver":"fake-hardware","name":"` + name + `",` + extra + `,"properties":{"a":"` + fat + `"},"driver_info":{"a":"` +
			fat + `"},"instance_info":{"a":"` + fat + `"}}`
		id, _ := c.must(http.StatusCreated, 115, "POST", "/v1/nodes", body).doc(t)["uuid"].(string)
		ids = append(ids, id)
	}
	var all sync.WaitGroup
	for i := range each {
		step := `"steps":[{"interface":"deploy","step":"erase_devices","args":{"a":"` + fat[:60_000] + `"},"priority":1}]`
		of := `"node_uuid":"` + ids[0] + `",` + extra
		for _, post := range []struct{ path, body string }{
			{"/v1/ports", fmt.Sprintf(`{%s,"address":"52:54:00:00:00:%02x"}`, of, i)},
			{"/v1/portgroups", fmt.Sprintf(`{%s,"properties":{"a":"%s"}}`, of, fat)},
			{"/v1/chassis", `{` + extra + `}`},
			{"/v1/volume/connectors", fmt.Sprintf(`{%s,"type":"iqn","connector_id":"%d"}`, of, i)},
			{"/v1/volume/targets", fmt.Sprintf(`{%s,"volume_type":"iscsi","boot_index":%d,"volume_id":"%d"}`, of, i, i)},
			{"/v1/deploy_templates", fmt.Sprintf(`{%s,"name":"CUSTOM_T%d",%s}`, extra, i, step)},
			{"/v1/runbooks", fmt.Sprintf(`{%s,"name":"CUSTOM_R%d",%s}`, extra, i, strings.Replace(step, `"priority"`, `"order"`, 1))},
			{"/v1/allocations", `{` + extra + `,"resource_class":"none"}`},
			{"/v1/inspection_rules", `{"actions":[{"op":"log","args":{"msg":"` + fat[:60_000] + `"}}]}`},
		} {
			all.Go(func() { c.must(http.StatusCreated, 115, "POST", post.path, post.body) })
		}
	}
	all.Wait()
	return ids[0]
}

// allocatedBytes is the bytes that the process has allocated so far: more than the heap grows meanwhile, and unlike the
// height of the heap it does not depend on when garbage is collected.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// itemsOf are the IDs of the items of a page, and where the next one is: "" on the last.
func itemsOf(t *testing.T, r reply) (ids []string, next string) {
	t.Helper()
	if r.header.Get("Content-Type") == nodeapi.MediaLines {
		for line := range strings.Lines(r.body) {
			ids = append(ids, fmt.Sprint(reply{body: line}.doc(t)["id"]))
			next = "/ferrite/v1/audit?after=" + ids[len(ids)-1]
		}
		return ids, next
	}
	doc := r.doc(t)
	for _, items := range doc {
		list, _ := items.([]any)
		for _, item := range list {
			m, _ := item.(map[string]any)
			ids = append(ids, fmt.Sprint(m["uuid"]))
		}
	}
	next, _ = doc["next"].(string)
	return ids, next
}

// TestPagesInBytes reads every list in the route table, with records as long as the API takes them. A page ends before
// its bytes are too many. It costs memory by its own size and not by the list's. All pages together have every record
// once.
func TestPagesInBytes(t *testing.T) {
	const page = 200 << 10
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "ferrite.db"), store.Options{CacheBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	trail, err := audit.Open(t.Context(), db, "c", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	bounded := func(o *api.Options) { o.PageBytes, o.Audit = page, trail }
	c := &conductor{t: t, Conductor: apitest.Start(t, db, nil, bounded)}
	node := fatRecords(t, c)
	for range 20 { // entries by the API are short
		if err := trail.Record(nodeapi.AuditEntry{Changes: []nodeapi.AuditChange{{New: fat}}}); err != nil {
			t.Fatal(err)
		}
	}
	lists := 0
	for _, path := range api.New(api.Options{Conductor: c.Engine}).Lists() {
		if path == "/v1/drivers" || path == "/v1/conductors" { // no records: of each of a few there is one
			continue
		}
		path = strings.NewReplacer(":node", node, ":ident", node).Replace(path)
		lists++
		seen := map[string]bool{}
		for next := path; next != ""; {
			before := allocatedBytes()
			r := c.do(115, "GET", next, "")
			grown := allocatedBytes() - before
			if r.status == http.StatusNotFound { // of one chassis, of one portgroup: other lists of nodes and ports
				break
			}
			if r.status != http.StatusOK || len(r.body) > max(page, 5*nodeapi.MaxField) {
				t.Fatalf("%s: status %d, %d bytes: %.200s", next, r.status, len(r.body), r.body)
			}
			// A batch of a MiB as the database's text and decoded, the page in a buffer that grows, and as the client reads it.
			if limit := uint64(12 << 20); grown > limit {
				t.Errorf("%s: a page of %d bytes took %d bytes of memory, want %d at the most", path, len(r.body), grown, limit)
			}
			ids, after := itemsOf(t, r)
			for _, id := range ids {
				if seen[id] {
					t.Errorf("%s: it has %s twice", path, id)
				}
				seen[id] = true
			}
			next = strings.TrimPrefix(after, c.URL)
		}
		switch want := 10; {
		case strings.HasSuffix(path, "/audit") && len(seen) == 120: // one of each record, and 20
		case strings.Contains(path, "/history"), strings.Contains(path, "erase"), strings.Contains(path, "/"+node+"/nodes"),
			strings.Contains(path, "/v1/portgroups/"+node), strings.Contains(path, "/v1/chassis/"+node):
		case len(seen) != want:
			t.Errorf("%s: %d records, want %d", path, len(seen), want)
		}
	}
	if lists < 20 {
		t.Errorf("%d lists in the route table", lists)
	}
}

// TestFieldSizes sends every free-form field that the route table takes with a byte too many: the answer names the
// field and the limit, and nothing is made of it.
func TestFieldSizes(t *testing.T) {
	c := newConductor(t)
	tried := 0
	for route, fields := range api.New(api.Options{Conductor: c.Engine}).FreeFields() {
		method, path, _ := strings.Cut(route, " ")
		if strings.Contains(path, ":") { // the fields of verbs: below
			continue
		}
		for _, field := range fields {
			tried++
			r := c.do(115, method, path, `{"`+field+`":{"a":"`+strings.Repeat("x", nodeapi.MaxField)+`"}}`)
			want := fmt.Sprintf("%s: %d bytes of JSON, the limit is %d", field, nodeapi.MaxField+8, nodeapi.MaxField)
			if r.status != http.StatusBadRequest || !strings.Contains(r.text(), want) {
				t.Errorf("%s %s: status %d, %.200s; want %s", route, field, r.status, r.body, want)
			}
		}
	}
	if tried < 15 {
		t.Errorf("%d fields in the route table", tried)
	}
	const id = "11111111-2222-3333-4444-555555555555"
	node := func(extra string) string {
		return `{"driver":"fake-hardware","uuid":"` + id + `","extra":` + extra + `}`
	}
	c.must(http.StatusBadRequest, 115, "POST", "/v1/nodes", node(`{"a":"`+strings.Repeat("x", nodeapi.MaxField)+`"}`))
	c.must(http.StatusNotFound, 115, "GET", "/v1/nodes/"+id, "")
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", node(`{"a":"`+fat+`"}`))
	more := `[{"op":"add","path":"/extra/b","value":"` + strings.Repeat("y", 200) + `"}]`
	if r := c.do(115, "PATCH", "/v1/nodes/"+id, more); r.status != http.StatusBadRequest ||
		!strings.Contains(r.text(), "extra: 65651 bytes of JSON, the limit is 65536") {
		t.Errorf("a patch that makes it longer: %d %.200s", r.status, r.body)
	}
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/"+id, `[{"op":"add","path":"/instance_info/configdrive","value":"`+
		strings.Repeat("z", 3*nodeapi.MaxField)+`"},{"op":"replace","path":"/extra/a","value":"short"}]`)
	long := `{"a":"` + strings.Repeat("x", nodeapi.MaxField) + `"}`
	for verb, body := range map[string]string{"provision": `{"target":"clean","clean_steps":` + long + `}`, "raid": long} {
		if r := c.do(115, "PUT", "/v1/nodes/"+id+"/states/"+verb, body); r.status != http.StatusBadRequest ||
			!strings.Contains(r.text(), "65544 bytes of JSON, the limit is 65536") {
			t.Errorf("%s: %d %.200s", verb, r.status, r.body)
		}
	}
}
