package rules

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestClauses: the stored form of a clause.
func TestClauses(t *testing.T) {
	got, err := Conditions(
		decode(t,
			`[{"op":"!eq","args":[[1]],"multiple":"all","force_strings":true},{"op":"eq","args":{"values":[]},"loop":[1]},{"op":"is-none","args":{"value":1},"loop":{"a":1},"multiple":"last"}]`))
	want := []node.Clause{
		{Op: "!eq", Args: []any{[]any{1.0}}},
		{Op: "eq", Args: map[string]any{"values": []any{}}, Loop: []any{1.0}, Multiple: "any"},
		{Op: "is-none", Args: map[string]any{"value": 1.0}, Loop: map[string]any{"a": 1.0}, Multiple: "last"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	if got, err := Conditions([]any{}); err != nil || len(got) != 0 {
		t.Errorf("no conditions: %v %v", got, err)
	}
}

// TestRefused: clauses that could never be carried out are refused.
func TestRefused(t *testing.T) {
	for conditions, want := range map[string]string{
		`null`:                         "None is not of type 'array'",
		`[1]`:                          "1 is not of type 'object'",
		`[{"args":[]}]`:                "'op' is a required property",
		`[{"op":"eq"}]`:                "'args' is a required property",
		`[{"op":1,"args":[]}]`:         "1 is not the name of an operation",
		`[{"op":"","args":[]}]`:        "'' is not the name of an operation",
		`[{"op":"ne","args":[]}]`:      "'ne' is not one of 'contains', 'eq',",
		`[{"op":"!!eq","args":[[]]}]`:  "'!!eq' is not one of",
		`[{"op":"fail","args":["x"]}]`: "'fail' is not one of",
		`[{"op":"eq","args":"x"}]`:     "args must be either a list or dictionary",
		`[{"op":"eq","args":[]}]`:      "Invalid parameters for eq: missing required argument(s): values",
		`[{"op":"eq","args":{"values":[],"more":1}}]`: "Invalid parameters for eq: unexpected " +
			"argument(s): more",
		`[{"op":"is-none","args":[1,2]}]`: "Invalid parameters for is-none: 2 " +
			"arguments, it takes 1: value",
		`[{"op":"eq","args":[[]],"loop":"x"}]`: "'x' is not of type 'array', 'object'",
		`[{"op":"eq","args":[[]],"multiple":"some"}]`: "'some' is not one of ['any', 'all', " +
			"'first', 'last']",
		`[{"op":"matches","args":["x","("]}]`: "invalid regular expression: error " +
			"parsing regexp: missing closing ): `(`",
		`[{"op":"matches","args":["x","(?=a)"]}]`: "invalid regular expression: error " +
			"parsing regexp: invalid or unsupported Perl syntax: `(?=`",
		`[{"op":"matches","args":["x",1]}]`: "Invalid parameters for matches: regex " +
			"must be text",
		`[{"op":"contains","args":["x","` + strings.Repeat("a", 4097) +
			`"]}]`: "the regular expression has 4097 bytes, the limit is 4096",
		`[{"op":"contains","args":["x","` + strings.Repeat("a{999}", 20) +
			`"]}]`: "the regular expression has 19982 parts, the limit is 10000",
	} {
		if _, err := Conditions(decode(t, conditions)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.80s: %v, want %s", conditions, err, want)
		}
	}
	for acts, want := range map[string]string{
		`[]`:                                    "[] is too short",
		`[{"op":"!fail","args":["x"]}]`:         "'!fail' is not one of 'add-trait', 'api-call',",
		`[{"op":"set-attribute","args":["x"]}]`: "Invalid parameters for set-attribute: missing required argument(s): value",
		`[{"op":"api-call","args":{"url":"http://h","proxies":{}}}]`: "Invalid parameters for api-call: proxies are " +
			"not supported",
	} {
		if _, err := Actions(decode(t, acts)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", acts, err, want)
		}
	}
}

// FuzzRules: for any rules of operators and any data of machines, rules end and their results can be stored as JSON.
// An error names its rule, and no line shows a secret.
func FuzzRules(f *testing.F) {
	for _, seed := range []string{
		`{"op":"eq","args":{"values":["{inventory[a][0]!r}",1]},"loop":[1,"{node.name}"],"multiple":"last"}`,
		`{"op":"!contains","args":["{inventory}","(a|b)*c{2,3}"]}`, `{"op":"in-net","args":["{item}","::/0"],"loop":{"a":1}}`,
		`{"op":"set-attribute","args":["extra/a.b/c","{plugin_data[x]}{{}}"]}`,
		`{"op":"set-port-attribute","args":{"port_id":"52:54:00:00:00:01","path":"extra","value":{}}}`,
		`{"op":"extend-plugin-data","args":{"path":["a",1,null],"value":"{item[a]","unique":"yes"},"loop":[{"a":"}"}]}`,
		`{"op":"api-call","args":{"url":"http://{node.name}","timeout":"1e400"}}`,
		`{"op":"log","args":{"msg":"{node.driver_info[redfish_password]}","level":"{"}}`,
		`{"op":"set-capability","args":["{","}"]}`, `{"op":"del-attribute","args":["extra/deep"]}`,
		`{"op":"one-of","args":[{},[{}]]}`,
	} {
		f.Add(seed, seed, `{"a":[{"b":"{node.name}"}],"password":"x"}`)
	}
	f.Fuzz(func(t *testing.T, condition, act, data string) {
		var c, a any
		var inventory map[string]any
		if json.Unmarshal([]byte(condition), &c) != nil || json.Unmarshal([]byte(act), &a) != nil ||
			json.Unmarshal([]byte(data), &inventory) != nil {
			return
		}
		r := node.InspectionRule{Record: node.Record{UUID: "r1"}}
		var err error
		if r.Conditions, err = Conditions([]any{c}); err != nil {
			r.Conditions = nil
		}
		if r.Actions, err = Actions([]any{a}); err != nil {
			return
		}
		of := found(t)
		of.Inventory, of.PluginData = inventory, copyObject(inventory)
		out, err := Apply([]node.InspectionRule{r}, of)
		if err != nil && !strings.HasPrefix(err.Error(), "inspection rule") {
			t.Fatalf("an error that does not name the rule: %v", err)
		}
		if _, err := json.Marshal(out); err != nil {
			t.Fatal(err)
		}
		if told := fmt.Sprint(out.Lines); strings.Contains(told, "pa55") && !strings.Contains(act, "pa55") {
			t.Fatalf("a secret was told: %s", told)
		}
	})
}
