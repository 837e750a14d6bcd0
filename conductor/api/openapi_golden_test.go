package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/api"
)

// TestOpenAPI compares the description of the REST API with testdata/openapi.json, so that a change of it shows in a
// diff.
func TestOpenAPI(t *testing.T) {
	body := newConductor(t).must(http.StatusOK, 0, "GET", "/ferrite/v1/openapi.json", "").body
	var got bytes.Buffer
	if err := json.Indent(&got, []byte(body), "", " "); err != nil {
		t.Fatal(err)
	}
	if alone, err := api.Document(); err != nil || string(alone) != body {
		t.Errorf("Document returns %d bytes (%v), a conductor answers with %d others", len(alone), err, len(body))
	}
	const golden = "testdata/openapi.json"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}
