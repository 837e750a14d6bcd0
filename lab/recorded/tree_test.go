package recorded_test

import (
	"archive/tar"
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/lab/recorded"
	"github.com/ferrite-metal/ferrite/lab/recorded/recordedtest"
	"github.com/ferrite-metal/ferrite/lab/redfish"
)

func TestLoad(t *testing.T) {
	for name, path := range map[string]string{
		"a folder":         recordedtest.Folder(t, recordedtest.Small(), false),
		"its service root": recordedtest.Folder(t, recordedtest.Small(), true),
		"an archive":       recordedtest.Archive(t, recordedtest.Small()),
	} {
		tree, err := recorded.Load(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if tree.Name != "anvil" || tree.Len() != len(recordedtest.Small()) || len(tree.Systems()) != 1 ||
			!tree.Switchable(tree.Systems()[0]) {
			t.Errorf("%s: %s has %d resources, systems %v", name, tree.Name, tree.Len(), tree.Systems())
		}
	}
}

// TestLoadRefuses: the error names the tree and its fault.
func TestLoadRefuses(t *testing.T) {
	deep := map[string]map[string]any{"/redfish/v1" + strings.Repeat("/a", 120): {"Id": "1"}}
	for want, path := range map[string]string{
		"there is no service root": recordedtest.Archive(t, map[string]map[string]any{"/redfish/v1/Systems": {"Id": "1"}}),
		"leads out of the tree":    recordedtest.Archive(t, map[string]map[string]any{"/../../etc": {"Id": "1"}}),
		"folders deep":             recordedtest.Archive(t, deep),
		"no such file":             filepath.Join(t.TempDir(), "gone.tar.gz"),
		"whose name ends in":       file(t, "tree.zip", "PK"),
		"gzip: invalid header":     file(t, "tree.tar.gz", "not packed"),
		"xz":                       file(t, "tree.tar.xz", "\xfd7zXZ\x00\x00\x01\x69\x22"),
		"unexpected EOF":           file(t, "tree.tar", cutArchive(t)),
	} {
		if _, err := recorded.Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// cutArchive ends in the middle of a file.
func cutArchive(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "redfish/v1/index.json", Size: 100, Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("{")); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestLoadOdd: documents that a BMC answers and that are no JSON objects are served as they were recorded. Lenovo's XCC
// has lists with a comma too many in its metric reports.
func TestLoadOdd(t *testing.T) {
	for _, text := range []string{`{"MetricValues": [{"MetricId": "1"},]}`, `[1]`, `null`, ``} {
		dir := recordedtest.Folder(t, recordedtest.Small(), false)
		at := system + "/Bios"
		if err := os.WriteFile(filepath.Join(dir, at, "index.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		tree, err := recorded.Load(dir)
		if err != nil || !slices.Equal(tree.Odd(), []string{at}) || tree.Len() != len(recordedtest.Small()) {
			t.Fatalf("%q: %v, odd %v, %d resources", text, err, tree.Odd(), tree.Len())
		}
		s := recorded.New(recorded.Config{Tree: tree, Deviations: []redfish.Deviation{redfish.ETagsWeak}})
		for _, query := range []string{"", "?$skip=1"} {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, at+query, nil))
			if w.Code != http.StatusOK || w.Body.String() != text {
				t.Errorf("%q is answered as %d %q", text, w.Code, w.Body)
			}
		}
	}
}

// FuzzArchive: reading any archive ends with a tree or an error.
func FuzzArchive(f *testing.F) {
	small, err := os.ReadFile(recordedtest.Archive(f, recordedtest.Small()))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(small)
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, b []byte) {
		tree, err := recorded.Load(file(t, "fuzz.tar.gz", string(b)))
		if err == nil && tree.Len() == 0 {
			t.Error("a tree without its service root")
		}
	})
}
