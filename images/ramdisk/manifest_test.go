package ramdisk

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/images/spdx"
)

// TestManifest: the manifest names each package that a file is of, once, and the results by their sums.
func TestManifest(t *testing.T) {
	m := fakeMirror(t, true)
	res, err := Build(t.Context(), mirrorRecipe(t, m))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(res.ManifestPath)
	if err != nil || filepath.Base(res.ManifestPath) != "test.spdx.json" {
		t.Fatalf("%s: %v", res.ManifestPath, err)
	}
	var doc spdx.Document
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, p := range doc.Packages {
		if ids[p.ID] || !strings.HasPrefix(p.ID, "SPDXRef-") || spdx.ID(p.ID) != p.ID || p.Download == "" {
			t.Errorf("package %+v", p)
		}
		ids[p.ID] = true
	}
	for _, r := range doc.Relationships {
		if r.From != doc.ID && !ids[r.From] || !ids[r.To] {
			t.Errorf("relationship of something unknown: %+v", r)
		}
	}
	if doc.Version != "SPDX-2.3" || len(doc.Relationships) != len(doc.Packages) ||
		!strings.Contains(string(text), `"pkg:deb/debian/linux-image-6.1-test@1?arch=amd64"`) {
		t.Errorf("document:\n%s", text)
	}
	want := []string{"amd64-microcode 1", "ferrite-agent", "firmware-bnx2x 1", "firmware-qlogic 1", "intel-microcode 1",
		"linux-image-6.1-test 1", "u-root commands"}
	found, err := Inspect(res.InitramfsPath)
	if err != nil || !slices.Equal(found.Packages, want) || found.Manifest != res.ManifestPath {
		t.Errorf("%v, manifest %s, packages %q", err, found.Manifest, found.Packages)
	}
	second, err := Build(t.Context(), mirrorRecipe(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(second.ManifestPath); err != nil || string(again) != string(text) {
		t.Errorf("the same again: %v, another manifest", err)
	}
	changed, err := os.ReadFile(res.InitramfsPath)
	if err != nil {
		t.Fatal(err)
	}
	_, packed, _ := strings.Cut(string(changed), "\x28\xb5\x2f\xfd") // without microcode
	writeFile(t, res.InitramfsPath, "\x28\xb5\x2f\xfd"+packed)
	if found, err := Inspect(res.InitramfsPath); err != nil || len(found.Packages) > 0 ||
		!strings.HasSuffix(found.Manifest, "is of another build") {
		t.Errorf("another file: %v, %+v", err, found.Manifest)
	}
	writeFile(t, res.ManifestPath, "{")
	if _, err := Inspect(res.InitramfsPath); err == nil || !strings.Contains(err.Error(), "expected SPDX in JSON") {
		t.Errorf("a damaged manifest: %v", err)
	}
}
