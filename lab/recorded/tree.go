package recorded

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/therootcompany/xz"
)

// Bounds of a tree. The largest one known, of a machine with eight GPUs, has 4,300 resources in 36 MB.
const (
	maxResources = 20_000
	maxResource  = 4 << 20
	maxTree      = 256 << 20
	maxDepth     = 100 // of folders and of JSON
)

// Root is where DSP0266 puts the service root.
const Root = "/redfish/v1"

// Tree is the documents of a BMC by path, without a slash at the end. It is not changed once it is read.
type Tree struct {
	Name  string // of its folder or archive, without the extension
	docs  map[string]map[string]any
	raw   map[string][]byte // answers that are no JSON object, as recorded: BMCs send such answers, too
	spelt map[string]string // paths of docs and raw by the path in small letters
}

// Load reads a tree from a folder, or from an archive: .tar, .tar.gz or .tar.xz. The service root
// may be at /redfish/v1 below it, or be the folder's own index.json. The error names the file.
func Load(name string) (*Tree, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("recorded tree: %w", err)
	}
	c := collector{files: map[string][]byte{}}
	if info.IsDir() {
		err = c.folder(os.DirFS(name))
	} else {
		err = c.archive(name)
	}
	if err != nil {
		return nil, fmt.Errorf("recorded tree %s: %w", name, err)
	}
	t, err := c.tree()
	if err != nil {
		return nil, fmt.Errorf("recorded tree %s: %w", name, err)
	}
	base := filepath.Base(name)
	for _, end := range []string{".xz", ".gz", ".tgz", ".tar"} {
		base = strings.TrimSuffix(base, end)
	}
	t.Name = base
	return t, nil
}

// collector gathers index files by their folder, within the bounds.
type collector struct {
	files map[string][]byte
	size  int
}

func (c *collector) add(name string, r io.Reader) error {
	clean := path.Clean("/" + strings.TrimPrefix(name, "./"))
	switch {
	case strings.Contains(name, ".."):
		return fmt.Errorf("%.100q leads out of the tree", name)
	case strings.Count(clean, "/") > maxDepth:
		return fmt.Errorf("%.100q is more than %d folders deep", name, maxDepth)
	case len(c.files) >= maxResources:
		return fmt.Errorf("it has more than %d resources", maxResources)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxResource+1))
	if err != nil {
		return fmt.Errorf("%.100q: %w", name, err)
	}
	if len(text) > maxResource {
		return fmt.Errorf("%.100q is larger than %d bytes", name, maxResource)
	}
	if c.size += len(text); c.size > maxTree {
		return fmt.Errorf("it is larger than %d bytes", maxTree)
	}
	c.files[path.Dir(clean)] = text
	return nil
}

func (c *collector) folder(f fs.FS) error {
	return fs.WalkDir(f, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() != "index.json" || !e.Type().IsRegular() {
			return err
		}
		file, err := f.Open(name)
		if err != nil {
			return err
		}
		return errors.Join(c.add(name, file), file.Close())
	})
}

func (c *collector) archive(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	var r io.Reader = file
	switch {
	case strings.HasSuffix(name, ".xz"):
		r, err = xz.NewReader(file, 64<<20)
	case strings.HasSuffix(name, ".gz"), strings.HasSuffix(name, ".tgz"):
		r, err = gzip.NewReader(file)
	case !strings.HasSuffix(name, ".tar"):
		return errors.New("expected a folder, or an archive whose name ends in .tar, .tar.gz or .tar.xz")
	}
	if err != nil {
		return err
	}
	return c.tar(tar.NewReader(io.LimitReader(r, 2*maxTree)))
}

func (c *collector) tar(t *tar.Reader) error {
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg || path.Base(h.Name) != "index.json" {
			continue
		}
		if err := c.add(h.Name, t); err != nil {
			return err
		}
	}
}

// tree finds the service root among the files, and reads all that is below it.
func (c *collector) tree() (*Tree, error) {
	top := ""
	for at, text := range c.files {
		if (top == "" || len(at) < len(top)) && isRoot(text) {
			top = at
		}
	}
	if top == "" {
		return nil,
			errors.New("there is no service root: expected redfish/v1/index.json, or an index.json whose @odata.id is " +
				"/redfish/v1")
	}
	t := &Tree{docs: map[string]map[string]any{}, raw: map[string][]byte{}, spelt: map[string]string{}}
	for _, at := range slices.Sorted(maps.Keys(c.files)) {
		text := c.files[at]
		rest, below := strings.CutPrefix(at, top)
		if !below || rest != "" && rest[0] != '/' && top != "/" {
			continue
		}
		t.add(strings.TrimSuffix(path.Join(Root, rest), "/"), decode(text), text)
	}
	t.fillSettings()
	return t, nil
}

// add takes a document. HPE's iLO links to its resources in small letters, and shows the same ones below capitals: a
// recording then has them twice, and a write to one has to show in the other. The first spelling is kept. A nil doc is
// kept as its text.
func (t *Tree) add(at string, doc map[string]any, text []byte) {
	if _, has := t.spelt[strings.ToLower(at)]; has {
		return
	}
	t.spelt[strings.ToLower(at)] = at
	if doc == nil {
		t.raw[at] = text
	} else {
		t.docs[at] = doc
	}
}

// Odd are the paths of documents that are no JSON objects, sorted. They are served as they were recorded.
func (t *Tree) Odd() []string { return slices.Sorted(maps.Keys(t.raw)) }

// fillSettings makes the settings objects that resources name and the recording lacks: each begins with the values in
// force, as Redfish has it (DSP0266, 9.10).
func (t *Tree) fillSettings() {
	for _, at := range slices.Sorted(maps.Keys(t.docs)) {
		settings, _ := t.docs[at]["@Redfish.Settings"].(map[string]any)
		object := linkOf(settings, "SettingsObject")
		if _, has := t.spelt[strings.ToLower(object)]; has || !strings.HasPrefix(object, Root+"/") {
			continue
		}
		doc := without(t.docs[at], "@Redfish.Settings")
		doc["@odata.id"] = object
		t.add(object, doc, nil)
	}
}

// isRoot reports whether a document is a service root (DSP2046).
func isRoot(text []byte) bool {
	var root struct {
		ID      string          `json:"@odata.id"`
		Type    string          `json:"@odata.type"`
		Systems json.RawMessage `json:"Systems"`
	}
	return json.Unmarshal(text, &root) == nil && strings.TrimSuffix(root.ID, "/") == Root &&
		strings.Contains(root.Type, "ServiceRoot")
}

// decode reads a document and keeps the spelling of numbers; nil for a text that is no JSON object.
func decode(text []byte) (doc map[string]any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&doc) != nil {
		return nil
	}
	return doc
}

// Len is how many resources there are.
func (t *Tree) Len() int { return len(t.docs) + len(t.raw) }

// Systems are the paths of the computer systems, sorted.
func (t *Tree) Systems() []string {
	all := members(t.docs[linkOf(t.docs[Root], "Systems")])
	slices.Sort(all)
	return all
}

// Switchable reports whether a reset is offered of a system: a board of accelerators, which is a
// system too, has none.
func (t *Tree) Switchable(system string) bool {
	return offers(t.docs[system], system+"/Actions/ComputerSystem.Reset")
}

// linkOf is the path that a property leads to; "" for none.
func linkOf(doc map[string]any, key string) string {
	to, _ := doc[key].(map[string]any)
	id, _ := to["@odata.id"].(string)
	return strings.TrimSuffix(id, "/")
}

// members are the paths of a collection's members.
func members(doc map[string]any) (all []string) {
	list, _ := doc["Members"].([]any)
	for _, m := range list {
		if to, is := m.(map[string]any); is {
			if id, is := to["@odata.id"].(string); is {
				all = append(all, strings.TrimSuffix(id, "/"))
			}
		}
	}
	return all
}

// Any reports whether one of the documents that are of a system has something: those below it, and those below the
// chassis that it names.
func (t *Tree) Any(system string, has func(path string, doc map[string]any) bool) bool {
	if has == nil {
		return false
	}
	links, _ := t.docs[system]["Links"].(map[string]any)
	of := []string{system}
	chassis, _ := links["Chassis"].([]any)
	for _, c := range chassis {
		if to, is := c.(map[string]any); is {
			if id, is := to["@odata.id"].(string); is {
				of = append(of, strings.TrimSuffix(id, "/"))
			}
		}
	}
	for path, doc := range t.docs {
		if slices.ContainsFunc(of, func(top string) bool { return below(path, top) }) && has(path, doc) {
			return true
		}
	}
	return false
}
