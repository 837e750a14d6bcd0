package redfish

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestResources reads every resource of the table and compares it with its
// golden file.
func TestResources(t *testing.T) {
	b := newFilledBench(t)
	for _, r := range b.routes() {
		if r.method != http.MethodGet {
			continue
		}
		path := strings.ReplaceAll(r.path, "{id}", "1")
		t.Run(path, func(t *testing.T) {
			response, body := b.Call(t, http.MethodGet, path, "")
			if response.StatusCode != http.StatusOK || response.Header.Get("ETag") == "" ||
				response.Header.Get("OData-Version") != "4.0" {
				t.Fatalf("%s %v: %s", response.Status, response.Header, body)
			}
			name := strings.ReplaceAll(strings.Trim(path, "/"), "/", "_")
			if response.Header.Get("Content-Type") == "application/json; charset=utf-8" {
				var pretty bytes.Buffer
				if err := json.Indent(&pretty, []byte(body), "", "  "); err != nil {
					t.Fatal(err)
				}
				name, body = strings.TrimSuffix(name, ".json")+".json", pretty.String()
			}
			golden(t, name, body)
		})
	}
}

// newFilledBench has a member 1 in every collection.
func newFilledBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	if _, err := b.sessions.open(redfishtest.User); err != nil {
		t.Fatal(err)
	}
	b.events.add("The system was reset: On")
	if response, body := b.Call(t, http.MethodPost, subscriptionsPath,
		`{"Destination": "https://h/", "Protocol": "Redfish", "HttpHeaders": [{"Authorization": "secret"}]}`); response.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s", response.Status, body)
	}
	if response, body := b.Call(t, http.MethodPost, raidPath+"/Volumes",
		mirrorRequest); response.StatusCode != http.StatusAccepted {
		t.Fatalf("%s %s", response.Status, body)
	}
	b.clock.Advance(b.config.TaskTime)
	return b
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", strings.ReplaceAll(name, "$", ""))
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestLinksLead follows every link from the service root: none may be dead,
// and everything but the version and OData documents must be reachable.
func TestLinksLead(t *testing.T) {
	b := newFilledBench(t)
	seen := map[string]bool{}
	todo := []string{rootPath}
	for len(todo) > 0 {
		path, _, _ := strings.Cut(todo[0], "#")
		todo = todo[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		response, body := b.Call(t, http.MethodGet, path, "")
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, response.Status)
			continue
		}
		var doc any
		if err := json.Unmarshal([]byte(body), &doc); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		todo = append(todo, linksIn(doc)...)
	}
	for _, r := range b.routes() {
		path := strings.ReplaceAll(r.path, "{id}", "1")
		aside := []string{"/redfish", rootPath + "/odata", rootPath + "/$metadata"}
		if r.method == http.MethodGet && !seen[path] && !slices.Contains(aside, path) {
			t.Errorf("nothing links to %s", path)
		}
	}
}

// linksIn collects @odata.id, Uri and TaskMonitor values anywhere in a document.
func linksIn(v any) []string {
	var found []string
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if text, ok := value.(string); ok && (key == "@odata.id" || key == "Uri" || key == "TaskMonitor") {
				found = append(found, text)
				continue
			}
			found = append(found, linksIn(value)...)
		}
	case []any:
		for _, value := range v {
			found = append(found, linksIn(value)...)
		}
	}
	return found
}
