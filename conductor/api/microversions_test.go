package api_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// walker requests everything in the API's document, in its first microversion and in the one before.
type walker struct {
	*document
	seen []string // the paths, arguments and fields, a line each
}

// TestMicroversions: each path, argument of a query and field exists from its microversion on, and not before. The
// document lists them, so that none is forgotten; testdata/microversions.txt is to be compared with Ironic's.
func TestMicroversions(t *testing.T) {
	w := &walker{document: readDocument(t, newConductor(t))}
	w.fill()
	for path, item := range w.root["paths"].(map[string]any) {
		if !strings.HasPrefix(path, nodeapi.Root) {
			continue
		}
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			if op, ok := item.(map[string]any)[method].(map[string]any); ok {
				w.operation(path, method, op)
			}
		}
	}
	slices.Sort(w.seen)
	got := strings.Join(slices.Compact(w.seen), "\n") + "\n"
	const file = "testdata/microversions.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("what came when (-want +got; -update rewrites %s):\n%s", file, diff)
	}
}

// since is the first microversion of a part, at least its whole's.
func (w *walker) since(of any, whole int) int {
	m, _ := of.(map[string]any)
	said, ok := m["x-since"].(string)
	if !ok {
		return whole
	}
	minor, err := nodeapi.ParseVersion(said)
	if err != nil {
		w.t.Fatal(err)
	}
	return max(minor, whole)
}

func (w *walker) operation(path, method string, op map[string]any) {
	filled := strings.NewReplacer("portgroups/{ident}/", "portgroups/bond/", "chassis/{ident}/", "chassis/"+fuzzNode+"/",
		"{node}", "n1", "{driver}", "fake-hardware", "{host}", "conductor-1", "{", "", "}", "").Replace(path)
	method, whole := strings.ToUpper(method), w.since(op, 1)
	w.seen = append(w.seen, fmt.Sprintf("%s %s 1.%d", path, method, whole))
	if whole > 1 {
		before, now := w.do(whole-1, method, filled, ""), w.do(whole, method, filled, "")
		if s := before.status; s != http.StatusNotFound && s != http.StatusMethodNotAllowed && s != http.StatusNotAcceptable {
			w.t.Errorf("%s %s at 1.%d: status %d: %.200s", method, path, whole-1, s, before.body)
		}
		if before.status == now.status && before.text() == now.text() {
			w.t.Errorf("%s %s at 1.%d is answered as before: %d %.200s", method, path, whole, now.status, now.body)
		}
	}
	parameters, _ := op["parameters"].([]any)
	for _, p := range parameters {
		if name, ok := p.(map[string]any)["name"].(string); ok && p.(map[string]any)["x-since"] != nil {
			w.argument(path, filled, name, w.since(p, whole), whole)
		}
	}
	if method == http.MethodGet {
		w.fields(path, filled, whole)
	}
}

// argument requests a list narrowed by a value from the estate.
func (w *walker) argument(path, filled, name string, since, whole int) {
	value := map[string]string{
		"node_uuid": fuzzNode, "chassis_uuid": fuzzNode, "instance_uuid": fuzzNode, "parent_node": fuzzNode, "node": "n1",
		"portgroup":  "none",
		"associated": "true", "maintenance": "true", "retired": "true", "sharded": "true", "include_children": "true",
		"reset_interfaces": "true",
		"provision_state":  "enroll", "fault": "power+failure", "address": "52:54:00:00:00:01",
	}[name]
	url := filled + "?" + name + "=" + cmpOr(value, "x")
	w.seen = append(w.seen, fmt.Sprintf("%s ?%s 1.%d", path, name, since))
	if since > whole {
		w.tooNew(url, since-1)
	}
	if r := w.do(since, "GET", url, ""); r.status == http.StatusNotAcceptable || strings.Contains(r.text(), "Unexpected") {
		w.t.Errorf("GET %s at 1.%d: status %d: %.200s", url, since, r.status, r.body)
	}
}

// tooNew sends a request that needs a newer microversion. For hardware data from a BMC Ironic refuses it in other
// words.
func (w *walker) tooNew(url string, minor int) {
	r := w.do(minor, "GET", url, "")
	told := strings.HasPrefix(r.text(), "Invalid query parameter") ||
		strings.Contains(r.text(), "are not allowed in this API version")
	if r.status != http.StatusNotAcceptable && !told {
		w.t.Errorf("GET %s at 1.%d: status %d: %.200s", url, minor, r.status, r.body)
	}
}

// fields asks a list for each field of its items, and looks for it in them.
func (w *walker) fields(path, filled string, whole int) {
	page, _ := w.at(append(content(path, "get", "200"), "properties")...).(map[string]any)
	for key, list := range page {
		item, _ := list.(map[string]any)["items"].(map[string]any)
		name, _ := item["$ref"].(string)
		if own := nodeapi.Root + "/" + key; w.at("paths", own) != nil && own != path {
			continue // where they are asked for too
		}
		if key == "next" || name == "" || strings.HasSuffix(path, "detail") {
			continue
		}
		name = name[strings.LastIndex(name, "/")+1:]
		properties, _ := w.at("components", "schemas", name, "properties").(map[string]any)
		for field, of := range properties {
			since := w.since(of, whole)
			w.seen = append(w.seen, fmt.Sprintf("%s .%s 1.%d", name, field, since))
			ref, _ := of.(map[string]any)["$ref"].(string)
			switch {
			case since == whole || since <= 8:
			case key == "history": // of which nothing can be asked for alone
				w.shown(filled+"?detail=True", key, field, since-1, false)
				w.shown(filled+"?detail=True", key, field, since, true)
			case strings.HasSuffix(ref, "/links"): // nor of these
				w.shown(filled+"/detail", key, field, since-1, false)
				w.shown(filled+"/detail", key, field, since, true)
			default:
				url := filled + "?fields=" + field
				w.tooNew(url, since-1)
				w.shown(url, key, field, since, true)
			}
		}
	}
}

// shown checks whether the items of a list have a field.
func (w *walker) shown(url, key, field string, minor int, want bool) {
	items, _ := w.must(http.StatusOK, minor, "GET", url, "").doc(w.t)[key].([]any)
	for _, item := range items {
		if _, got := item.(map[string]any)[field]; got != want {
			w.t.Errorf("GET %s at 1.%d shows %s: %v: %v", url, minor, field, got, item)
		}
	}
}

func cmpOr(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
