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

// documents is the tree: the documents of the ideal controller, and overlays.json with the differences of other
// controllers.
//
//go:embed tree
var documents embed.FS

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

// embedded is the tree and its overlays, read once.
var embedded = sync.OnceValues(func() (tree, map[string]tree) {
	all, overlays := tree{}, map[string]tree{}
	for _, area := range []string{"root", "services", "system", "manager"} {
		read(area, &all)
	}
	read("overlays", &overlays)
	return all, overlays
})

func read[T any](name string, into *T) {
	text, err := documents.ReadFile("tree/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		panic(fmt.Sprintf("tree/%s.json: %v", name, err))
	}
}

// newTree is the tree with some overlays. An overlay without documents is none.
func newTree(overlays ...string) tree {
	ideal, all := embedded()
	t := maps.Clone(ideal)
	for _, name := range overlays {
		for at, patch := range all[name] {
			t[at] = overlay(t[at], patch)
		}
	}
	return t
}

// overlay changes a document; a nil one becomes the change itself.
func overlay(doc, change json.RawMessage) json.RawMessage {
	if doc == nil {
		return change
	}
	var object, edit map[string]any
	mustDo(json.Unmarshal(doc, &object))
	mustDo(json.Unmarshal(change, &edit))
	text, err := json.Marshal(mergePatch(object, edit))
	mustDo(err)
	return text
}

// mustDo is for documents that the build has checked.
func mustDo(err error) {
	if err != nil {
		panic(err)
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
