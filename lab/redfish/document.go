package redfish

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// files has the documents of the ideal controller, the parts that not every machine has, and the tables of messages,
// deviations and personalities.
//
//go:embed tree
var files embed.FS

var (
	documents     = load[tree]("root", "services", "system", "manager")
	parts         = load[map[string]tree]("parts")
	deviations    = load[[]DeviationRow]("deviations")
	personalities = load[[]Personality]("personalities")
)

// tree is documents by the pattern of their path. A string "{name}" stands for a value, of any kind. A property that is
// "{name?}" is left out where the value is an empty string; it is not the first of its object.
type tree map[string]json.RawMessage

// values are the values of a document by the names of its placeholders.
type values map[string]any

// item is a member of a collection, with the values of its document.
type item struct {
	id     string
	values values
}

// load reads files of the tree at the first use. It panics on an error, which is one of the build.
func load[T any](names ...string) func() T {
	return sync.OnceValue(func() (into T) {
		for _, name := range names {
			text, err := files.ReadFile("tree/" + name + ".json")
			must(err)
			must(json.Unmarshal(text, &into))
		}
		return into
	})
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// newTree is the tree of a controller with some parts and deviations.
func newTree(extra []string, p Personality) tree {
	t := maps.Clone(documents())
	for _, name := range extra {
		t.overlay(parts()[name])
	}
	for _, row := range deviations() {
		if p.has(row.Name) {
			t.overlay(row.Documents)
		}
	}
	return t
}

// overlay changes documents, and adds those that are new.
func (t tree) overlay(changes tree) {
	for at, change := range changes {
		if t[at] == nil {
			t[at] = change
			continue
		}
		var doc, patch map[string]any
		must(json.Unmarshal(t[at], &doc))
		must(json.Unmarshal(change, &patch))
		text, err := json.Marshal(mergePatch(doc, patch))
		must(err)
		t[at] = text
	}
}

// mergePatch changes an object as JSON Merge Patch does (RFC 7396): null removes a member.
func mergePatch(object, patch map[string]any) map[string]any {
	for key, value := range patch {
		inner, nested := value.(map[string]any)
		was, is := object[key].(map[string]any)
		switch {
		case value == nil:
			delete(object, key)
		case nested && is:
			object[key] = mergePatch(was, inner)
		default:
			object[key] = value
		}
	}
	return object
}

// fill puts the values into the document of a pattern.
func (t tree) fill(pattern string, value func(name string) (any, bool)) (json.RawMessage, error) {
	rest := []byte(t[pattern])
	filled := make([]byte, 0, 2*len(rest))
	for {
		before, after, found := bytes.Cut(rest, []byte(`"{`))
		filled = append(filled, before...)
		if !found {
			return filled, nil
		}
		end := bytes.Index(after, []byte(`}"`))
		name, optional := strings.CutSuffix(string(after[:end]), "?")
		rest = after[end+len(`}"`):]
		v, has := value(name)
		if !has {
			return nil, fmt.Errorf("%s has no value %s", pattern, name)
		}
		if optional && v == "" {
			filled = filled[:bytes.LastIndexByte(filled, ',')] // the name of the property goes, too
			continue
		}
		text, err := encode(v)
		if err != nil {
			return nil, err
		}
		filled = append(filled, bytes.TrimRight(text, "\n")...)
	}
}

// document is the document at a path, made by the pattern of the path in the tree.
func (s *Server) document(pattern, at string) (json.RawMessage, error) {
	own := values{"path": at, "id": path.Base(at)}
	own["led"], own["lit"] = s.indicators.at(at)
	if changing := s.own[pattern]; changing != nil {
		maps.Copy(own, changing())
	}
	if list := s.lists[pattern]; list != nil {
		var members []string
		for _, one := range list() {
			members = append(members, at+"/"+one.id)
		}
		own["count"], own["members"] = len(members), links(members...)
		own["countWithMissing"], own["membersWithMissing"] = len(members)+1, links(append(members, at+"/Missing")...)
	}
	if of, is := strings.CutSuffix(pattern, "/{id}"); is {
		list := s.lists[of]()
		i := slices.IndexFunc(list, func(one item) bool { return one.id == path.Base(at) })
		if i < 0 {
			return nil, problem(resourceMissing, at)
		}
		maps.Copy(own, list[i].values)
	}
	return s.tree.fill(pattern, func(name string) (any, bool) {
		if v, has := own[name]; has {
			return v, true
		}
		if common := commonValues[name]; common != nil {
			return common(s), true
		}
		return nil, false
	})
}
