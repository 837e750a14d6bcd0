package savedtree

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Tree is the documents of a BMC, as they were read.
type Tree struct{ docs map[string]map[string]any }

// Add takes a document by its path: /redfish/v1/Systems.
func (t *Tree) Add(path string, doc map[string]any) {
	if t.docs == nil {
		t.docs = map[string]map[string]any{}
	}
	t.docs[path] = doc
}

// Documents are those that were added, by their paths.
func (t *Tree) Documents() map[string]map[string]any { return t.docs }

// Len is the number of documents.
func (t *Tree) Len() int { return len(t.docs) }

// Redacted is a copy without the values that identify one machine. Two copies have different replacements.
func (t *Tree) Redacted() (*Tree, error) {
	r, err := newRedactor()
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(t.docs)) {
		r.learn("", t.docs[path])
	}
	r.ready()
	out := &Tree{}
	for path, doc := range t.docs {
		copied, _ := r.document("", doc).(map[string]any)
		out.Add(r.text("@odata.id", path), copied)
	}
	return out, nil
}

// Write writes the documents as a .tar.gz in the layout of DMTF's Redfish-Mockup-Creator.
func (t *Tree) Write(w io.Writer, name string) error {
	packed := gzip.NewWriter(w)
	archive := tar.NewWriter(packed)
	for _, path := range slices.Sorted(maps.Keys(t.docs)) {
		text, err := json.MarshalIndent(t.docs[path], "", " ")
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		h := &tar.Header{Name: name + path + "/index.json", Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(h); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if _, err := archive.Write(text); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), packed.Close())
}

// Suffix ends the name of an archive.
const Suffix = ".tar.gz"

// Check refuses a file name before any document is read for it: a name that does not end in suffix, or that exists.
func Check(file, suffix string) error {
	if !strings.HasSuffix(file, suffix) {
		return fmt.Errorf("%s: expected a name that ends in %s", file, suffix)
	}
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s is there already: name another file, or remove it", file)
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Save writes the documents into a new file.
func (t *Tree) Save(file string) error {
	if err := Check(file, Suffix); err != nil {
		return err
	}
	return WriteNew(file, func(w io.Writer) error { return t.Write(w, strings.TrimSuffix(filepath.Base(file), Suffix)) })
}

// WriteNew makes a file that only its owner may read. It is whole, or not there, and replaces no other.
func WriteNew(file string, write func(io.Writer) error) error {
	part, err := os.CreateTemp(filepath.Dir(file), ".saved-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part.Name()) }()
	if err = errors.Join(write(part), part.Sync(), part.Close()); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return os.Link(part.Name(), file) // unlike a rename it replaces nothing
}
