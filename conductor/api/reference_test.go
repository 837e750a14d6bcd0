package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReference: docs/api.md lists every route with the microversion it came with.
func TestReference(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	body := newConductor(t).must(http.StatusOK, 0, "GET", "/ferrite/v1/openapi.json", "").body
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatal(err)
	}
	var rows []string
	for path, methods := range doc.Paths {
		for method, raw := range methods {
			var o struct {
				Summary string `json:"summary"`
				Since   string `json:"x-since"`
			}
			if method == "parameters" { // of all methods of the path
				continue
			}
			if err := json.Unmarshal(raw, &o); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", path, strings.ToUpper(method), o.Since, o.Summary))
		}
	}
	slices.Sort(rows)
	text := "# REST API\n\n<!-- Generated from the route table: go test ./conductor/api -run Reference -update -->\n\n" +
		"A conductor describes its API in OpenAPI 3.1, with all fields, at `GET /ferrite/v1/openapi.json`. A microversion\n" +
		"in the third column is the first with the route.\n\n" +
		"| path | method | since | it does |\n|---|---|---|---|\n" + strings.Join(rows, "\n") + "\n"
	const page = "../../docs/api.md"
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-want +got):\n%s", page, diff)
	}
}
