// Package recordedtest has a small recorded BMC, written for tests: as little as each operation of
// the driver needs.
//
// It must not be imported by anything but tests.
package recordedtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed" // the documents
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

//go:embed small.json
var small []byte

// Small is the documents by path. Their Redfish is plain: one system with a BIOS, secure boot, a
// virtual CD, firmware, and a registry of one BIOS setting. The link to the BIOS is in small letters, as iLO has it.
func Small() map[string]map[string]any {
	var docs map[string]map[string]any
	if err := json.Unmarshal(small, &docs); err != nil {
		panic(err)
	}
	return docs
}

// Folder writes documents below a folder, and returns the folder. The folder contains redfish/v1; with at, the folder
// itself is the service root.
func Folder(t testing.TB, docs map[string]map[string]any, at bool) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "anvil")
	for path, d := range docs {
		if at {
			path = path[len("/redfish/v1"):]
		}
		folder := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "index.json"), encode(t, d), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Archive writes documents as a .tar.gz, with names as they are given, and answers it.
func Archive(t testing.TB, docs map[string]map[string]any) string {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	for _, path := range slices.Sorted(maps.Keys(docs)) {
		text := encode(t, docs[path])
		h := &tar.Header{Name: "anvil" + path + "/index.json", Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, end := range []func() error{w.Close, z.Close} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "anvil.tar.gz")
	if err := os.WriteFile(file, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func encode(t testing.TB, d map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
