package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/flags"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// manifest is one document as its author has written it.
type manifest struct {
	from   string // file and number, for errors
	kind   hostapi.Kind
	object map[string]any
	err    error // why it cannot be used
}

// maxManifest bounds a file of documents.
const maxManifest = 64 << 20

// readManifests reads files, folders and, for "-", standard input. A file or a
// document that cannot be read is a manifest with an error: the others can.
func readManifests(paths []string, stdin io.Reader) []manifest {
	var all []manifest
	for _, path := range paths {
		files, err := manifestFiles(path)
		if err != nil {
			all = append(all, manifest{from: path, err: err})
		}
		for _, file := range files {
			name, text, err := readManifest(file, stdin)
			if err != nil {
				all = append(all, manifest{from: name, err: err})
				continue
			}
			all = append(all, parseManifests(name, text)...)
		}
	}
	return all
}

// manifestFiles returns the file itself, or the files of a folder that can hold documents.
func manifestFiles(path string) ([]string, error) {
	if path == "-" || !flags.IsDir(path) {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, errors.New("the folder has no file of documents: expected names that end in .yaml, .yml or .json")
	}
	return files, nil
}

func readManifest(path string, stdin io.Reader) (name string, text []byte, err error) {
	name = path
	if path == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(path)
		if err != nil {
			return name, nil, err
		}
		defer f.Close()
		stdin = f
	}
	text, err = io.ReadAll(io.LimitReader(stdin, maxManifest+1))
	if err == nil && len(text) > maxManifest {
		err = fmt.Errorf("it is larger than the limit of %d bytes", maxManifest)
	}
	return name, text, err
}

// parseManifests reads the documents of a file: YAML between lines of "---", or JSON objects in a row. The items of
// lists become documents, too.
func parseManifests(name string, text []byte) []manifest {
	f := manifestFile{name: name}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) && f.json(text) {
		return f.all
	}
	f.yaml(text)
	return f.all
}

// manifestFile is the documents of a file, as far as it has been read.
type manifestFile struct {
	name  string
	count int // of documents, lists being one
	all   []manifest
}

// json reads one object after the other; false when already the first is none,
// since there is YAML that begins like JSON.
func (f *manifestFile) json(text []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var raw json.RawMessage
		switch err := dec.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return true
		case err != nil && f.count == 0:
			return false
		case err != nil:
			f.add(nil, fmt.Errorf("not JSON: %w", err))
			return true
		}
		f.add(parseObject(raw))
	}
}

func (f *manifestFile) yaml(text []byte) {
	for _, part := range splitYAML(text) {
		doc, err := yaml.YAMLToJSONStrict(part.text)
		if err != nil {
			f.add(nil, fmt.Errorf("not YAML, counting from line %d of the file: %w", part.line, err))
			continue
		}
		if string(doc) != "null" { // comments alone
			f.add(parseObject(doc))
		}
	}
}

// add takes a document, or the items of a list.
func (f *manifestFile) add(object map[string]any, err error) {
	f.count++
	m := manifest{from: fmt.Sprintf("%s, document %d", f.name, f.count), object: object, err: err}
	if items, isList := listItems(object); isList && err == nil {
		f.all = append(f.all, listed(m, items)...)
		return
	}
	if m.err == nil {
		m.kind, m.err = kindOfObject(object)
	}
	f.all = append(f.all, m)
}

// yamlPart is one document of a file, and the line of the file it begins at.
type yamlPart struct {
	text []byte
	line int
}

// splitYAML cuts a file at lines of "---", which stand in no document of YAML.
func splitYAML(text []byte) []yamlPart {
	parts := []yamlPart{{line: 1}}
	line := 0
	for l := range bytes.Lines(text) {
		line++
		if rest, cut := bytes.CutPrefix(l, []byte("---")); cut &&
			(len(bytes.TrimSpace(rest)) == 0 || rest[0] == ' ' || rest[0] == '\t') {
			parts = append(parts, yamlPart{line: line})
			l = append(bytes.Repeat([]byte(" "), 3), rest...) // the rest of the line belongs to the document
		}
		last := &parts[len(parts)-1]
		last.text = append(last.text, l...)
	}
	return parts
}

// parseObject reads a JSON object as kubectl does: whole numbers are whole.
func parseObject(text []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	object, ok := numbers(v).(map[string]any)
	if !ok {
		return nil, fmt.Errorf("expected an object with apiVersion, kind and metadata, found %s", output.Cell(v))
	}
	return object, nil
}

// numbers converts the numbers of a document to comparable types.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, e := range v {
			v[key] = numbers(e)
		}
	case []any:
		for i, e := range v {
			v[i] = numbers(e)
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if n, err := v.Float64(); err == nil {
			return n
		}
		return v.String() // too large for any field; the server says so
	}
	return v
}

// listItems returns the items of a list, kubectl's "List" and a server's alike.
func listItems(object map[string]any) ([]any, bool) {
	kind, _ := object["kind"].(string)
	items, ok := object["items"].([]any)
	return items, ok && strings.HasSuffix(kind, "List")
}

func listed(list manifest, items []any) []manifest {
	var all []manifest
	for i, item := range items {
		m := manifest{from: fmt.Sprintf("%s, item %d", list.from, i+1)}
		object, ok := item.(map[string]any)
		if !ok {
			m.err = fmt.Errorf("expected an object, found %s", output.Cell(item))
		} else {
			m.object = object
			m.kind, m.err = kindOfObject(object)
		}
		all = append(all, m)
	}
	return all
}

// kindOfObject requires that a document names its kind, and that the kind is a known one.
func kindOfObject(object map[string]any) (hostapi.Kind, error) {
	name, _ := object["kind"].(string)
	version, _ := object["apiVersion"].(string)
	if name == "" || version == "" {
		return hostapi.Kind{}, errors.New("kind and apiVersion are required: expected them at the top of the document")
	}
	var known []string
	for _, k := range hostapi.Kinds() {
		if k.Kind == name && k.APIVersion() == version {
			return k, nil
		}
		known = append(known, fmt.Sprintf("%s of %s", k.Kind, k.APIVersion()))
	}
	return hostapi.Kind{}, fmt.Errorf("unknown kind %s of apiVersion %s: expected one of %s", name, version,
		strings.Join(known, ", "))
}

// metadata returns the metadata of a document. Changes to it change the document.
func (m manifest) metadata() map[string]any {
	meta, ok := m.object["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		m.object["metadata"] = meta
	}
	return meta
}

func (m manifest) name() string      { return textOf(m.metadata()["name"]) }
func (m manifest) namespace() string { return textOf(m.metadata()["namespace"]) }

func textOf(v any) string {
	text, _ := v.(string)
	return text
}

// label is the document's name in an error.
func (m manifest) label() string {
	if m.kind.Kind == "" || m.object == nil || m.name() == "" {
		return m.from
	}
	return fmt.Sprintf("%s (%s %s)", m.from, m.kind.Kind, m.name())
}

// placed sees that a document has a name, and puts it into the namespace that is
// said on the command line where it names none.
func (m manifest) placed(namespace string, said bool) error {
	if m.err != nil {
		return m.err
	}
	if m.name() == "" {
		return errors.New("metadata.name: a name is required")
	}
	switch own := m.namespace(); {
	case !m.kind.Namespaced:
		return nil
	case own == "":
		m.metadata()["namespace"] = namespace
	case said && own != namespace:
		return fmt.Errorf("metadata.namespace is %s in the file and %s on the command line: leave one of them out",
			own, namespace)
	}
	return nil
}
