package host

import (
	"encoding/json"
	"slices"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestApplyOrder: every kind has its place; one without would come before its namespace.
func TestApplyOrder(t *testing.T) {
	var kinds []string
	for _, k := range hostapi.Kinds() {
		kinds = append(kinds, k.Kind)
	}
	slices.Sort(kinds)
	if diff := cmp.Diff(kinds, slices.Sorted(slices.Values(applyOrder()))); diff != "" {
		t.Errorf("kinds (-there are +in order):\n%s", diff)
	}
}

// TestThreeWay: the patch, and the document after it.
func TestThreeWay(t *testing.T) {
	for _, c := range []struct{ name, original, modified, current, patch, after string }{
		{"nothing to do", `{"spec":{"a":1}}`, `{"spec":{"a":1}}`, `{"spec":{"a":1,"b":2},"status":{"s":1}}`, `{}`,
			`{"spec":{"a":1,"b":2},"status":{"s":1}}`},
		{"a change", `{"spec":{"a":1}}`, `{"spec":{"a":2}}`, `{"spec":{"a":1,"b":2}}`, `{"spec":{"a":2}}`,
			`{"spec":{"a":2,"b":2}}`},
		{"a field that is no longer said goes", `{"spec":{"a":1,"b":2}}`, `{"spec":{"a":1}}`, `{"spec":{"a":1,"b":3,"c":4}}`,
			`{"spec":{"b":null}}`, `{"spec":{"a":1,"c":4}}`},
		{"one that is gone already needs nothing", `{"spec":{"a":1,"b":2}}`, `{"spec":{"a":1}}`, `{"spec":{"a":1}}`, `{}`,
			`{"spec":{"a":1}}`},
		{"a whole object goes", `{"spec":{"o":{"a":1}}}`, `{"spec":{}}`, `{"spec":{"o":{"a":1,"b":2}}}`,
			`{"spec":{"o":null}}`, `{"spec":{}}`},
		{"a part of an object goes", `{"spec":{"o":{"a":1,"b":2}}}`, `{"spec":{"o":{"b":2}}}`,
			`{"spec":{"o":{"a":1,"b":2,"c":3}}}`, `{"spec":{"o":{"a":null}}}`, `{"spec":{"o":{"b":2,"c":3}}}`},
		{"never applied before: all else stays", `null`, `{"spec":{"a":1}}`, `{"spec":{"a":0,"b":2}}`, `{"spec":{"a":1}}`,
			`{"spec":{"a":1,"b":2}}`},
		{"lists are set whole", `{"l":[1,2]}`, `{"l":[2,3]}`, `{"l":[1,2]}`, `{"l":[2,3]}`, `{"l":[2,3]}`},
		{"an object in place of a value", `{"a":1}`, `{"a":{"b":1}}`, `{"a":1}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{"null is not said", `{"a":1,"b":2}`, `{"a":null,"b":2,"c":null}`, `{"a":1,"b":2,"c":3}`, `{"a":null}`,
			`{"b":2,"c":3}`},
		{"false is said, though servers may leave it out", `{"a":true}`, `{"a":false}`, `{"a":true}`, `{"a":false}`,
			`{"a":false}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			read := func(text string) map[string]any {
				object, err := parseObject([]byte(text))
				if err != nil && text != "null" {
					t.Fatal(err)
				}
				return object
			}
			patch, err := json.Marshal(threeWay(read(c.original), read(c.modified), read(c.current)))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.patch, string(patch)); d != "" {
				t.Errorf("patch (-want +got):\n%s", d)
			}
			after, err := jsonpatch.MergePatch([]byte(c.current), patch)
			if err != nil || !jsonpatch.Equal(after, []byte(c.after)) {
				t.Errorf("it becomes %s, want %s: %v", after, c.after, err)
			}
		})
	}
}

// TestSplit: documents are cut where YAML cuts them.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"one", "a: 1\n", []string{`{"a":1}`}},
		{"two", "---\na: 1\n---\nb: 2", []string{`{"a":1}`, `{"b":2}`}},
		{"carriage returns", "a: 1\r\n---\r\nb: 2\r\n", []string{`{"a":1}`, `{"b":2}`}},
		{"a comment behind the line", "---  # first\na: 1\n", []string{`{"a":1}`}},
		{"a document on the line", "--- {a: 1}\n", []string{`{"a":1}`}},
		{"no separators", "a: |\n  ---\n  x\nb: ----\n----a: 1\n", []string{`{"----a":1,"a":"---\nx\n","b":"----"}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, p := range splitYAML([]byte(c.text)) {
				text, err := yaml.YAMLToJSON(p.text)
				if err != nil {
					t.Fatal(err)
				}
				if string(text) != "null" {
					got = append(got, string(text))
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("documents (-want +got):\n%s", d)
			}
		})
	}
}

// FuzzManifests reads files of anything: a document has a kind, or an error.
func FuzzManifests(f *testing.F) {
	for _, seed := range []string{
		"---\nkind: Secret\napiVersion: v1\nmetadata: {name: x}\nstringData: {password: '******'}\n---\n# nothing\n---\n",
		`{"kind":"List","apiVersion":"v1","items":[{"kind":"Namespace","apiVersion":"v1"},7]}{"a":1.5e300}`,
		"{a: b}", "kind: &a [*a]\n", "a: 1\na: 2\n", "kind: List\nitems: {}\n", "metadata: 7\nkind: Secret\napiVersion: v1\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, m := range parseManifests("f", text) {
			if (m.kind.Kind == "") != (m.err != nil) {
				t.Errorf("%s: kind %q and error %v", m.from, m.kind.Kind, m.err)
			}
			if m.placed("default", false) != nil || filledIn(m) != nil {
				continue
			}
			if err := annotate(m.object); err != nil {
				t.Errorf("%s: %v", m.label(), err)
			}
			if patch := threeWay(nil, m.object, m.object); len(patch) > 0 {
				t.Errorf("%s: applied to itself it changes %v", m.label(), patch)
			}
		}
	})
}
