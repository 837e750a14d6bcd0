package redfish

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
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
// "{name?}" is left out where the value is an empty string.
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

var (
	optional    = regexp.MustCompile(`("\w+": ?)"\{(\w+)\?\}",`)
	placeholder = regexp.MustCompile(`"\{(\w+)\}"`)
)

// fill puts the values into the document of a pattern.
func (t tree) fill(pattern string, v values) (filled json.RawMessage, failed error) {
	text := optional.ReplaceAllStringFunc(string(t[pattern]), func(found string) string {
		part := optional.FindStringSubmatch(found)
		if v[part[2]] == "" {
			return ""
		}
		return part[1] + `"{` + part[2] + `}",`
	})
	text = placeholder.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Trim(found, `"{}`)
		value, has := v[name]
		if !has {
			failed = fmt.Errorf("%s has no value %s", pattern, name)
		}
		filled, err := encode(value)
		if err != nil {
			failed = err
		}
		return string(filled)
	})
	return json.RawMessage(text), failed
}

// document is the document at a path, made by the pattern of the path in the tree.
func (s *Server) document(pattern, at string) (json.RawMessage, error) {
	v := s.common()
	v["path"], v["id"] = at, path.Base(at)
	v["led"], v["lit"] = s.indicators.at(at)
	if own := s.own[pattern]; own != nil {
		maps.Copy(v, own())
	}
	if list := s.lists[pattern]; list != nil {
		var members []string
		for _, one := range list() {
			members = append(members, at+"/"+one.id)
		}
		v["count"], v["members"] = len(members), links(members...)
		v["countWithMissing"], v["membersWithMissing"] = len(members)+1, links(append(members, at+"/Missing")...)
	}
	if of, is := strings.CutSuffix(pattern, "/{id}"); is {
		list := s.lists[of]()
		i := slices.IndexFunc(list, func(one item) bool { return one.id == path.Base(at) })
		if i < 0 {
			return nil, problem(resourceMissing, at)
		}
		maps.Copy(v, list[i].values)
	}
	return s.tree.fill(pattern, v)
}
