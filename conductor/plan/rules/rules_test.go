package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// found is a node with a port; all its attributes are set.
func found(t testing.TB) Found {
	t.Helper()
	data := func(text string) map[string]any { m, _ := decode(t, text).(map[string]any); return m }
	return Found{
		Node: node.Node{
			UUID: "11111111-0000-4000-8000-000000000001", Name: "n1", Driver: "redfish", ProvisionState: node.InspectWait,
			Interfaces: map[string]string{"deploy": "direct"}, Traits: []string{"CUSTOM_A"}, Description: "words",
			DriverInfo: data(`{"redfish_address":"https://u:pa55@h","redfish_password":"pa55"}`),
			Properties: data(`{"capabilities":"boot_mode:uefi,a:1","cpus":8}`),
			Extra:      data(`{"list":[1],"deep":{"er":{"k":"v"}}}`),
		},
		Ports: []node.Port{
			{UUID: "22222222-0000-4000-8000-000000000001", Address: "52:54:00:00:00:01", PXEEnabled: true,
				Extra: data(`{"k":"v"}`)}, {Address: "52:54:00:00:00:02"},
		},
		Inventory: data(
			`{"cpu":{"count":8,"architecture":"x86_64"},"bmc_address":"10.1.2.3","bmc_password":"pa55","disks":[{"size":100},{"size":200}],"none":null,"yes":true,"empty":"","serial":"{node.name}"}`),
		PluginData: data(`{"a":{"b":[1],"c":null},"logs":"x"}`),
	}
}

// rule makes a rule of JSON; either part may be "".
func rule(t testing.TB, conditions, acts string) node.InspectionRule {
	t.Helper()
	r := node.InspectionRule{Record: node.Record{UUID: "r1"}, Phase: node.MainPhase}
	var err error
	if conditions != "" {
		if r.Conditions, err = Conditions(decode(t, conditions)); err != nil {
			t.Fatal(err)
		}
	}
	if acts == "" {
		acts = `[{"op":"set-attribute","args":["extra",{"held":true}]}]`
	}
	if r.Actions, err = Actions(decode(t, acts)); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestConditions: each operator where it holds, where not, and where it fails.
func TestConditions(t *testing.T) {
	for condition, want := range map[string]string{
		`{"op":"eq","args":{"values":[1,1,1]}}`:                                            "holds",
		`{"op":"eq","args":{"values":[1,1,2]}}`:                                            "no",
		`{"op":"eq","args":{"values":[]}}`:                                                 "holds",
		`{"op":"eq","args":{"values":["{inventory[cpu][count]}",8]}}`:                      "no",
		`{"op":"eq","args":{"values":["{inventory[cpu][count]}",8],"force_strings":true}}`: "holds",
		`{"op":"eq","args":{"values":[true,1]}}`:                                           "holds",
		`{"op":"eq","args":{"values":[[1,{"a":2}],[1,{"a":2}]]}}`:                          "holds",
		`{"op":"eq","args":[["{node.driver}","redfish"]]}`:                                 "holds",
		`{"op":"eq","args":[["a","{node.name}x"],true]}`:                                   "no",
		`{"op":"!eq","args":{"values":["{node.name}","n2"]}}`:                              "holds",
		`{"op":"eq","args":{"values":"a"}}`: "condition eq: values must be " +
			"a list, not text",
		`{"op":"eq","args":{"values":[1],"force_strings":"perhaps"}}`: "condition eq: force_strings " +
			"must be true or false, not text",
		`{"op":"lt","args":{"values":[1,2,3]}}`:    "holds",
		`{"op":"lt","args":{"values":[1,3,3]}}`:    "no",
		`{"op":"lt","args":{"values":["10","9"]}}`: "holds",
		`{"op":"lt","args":{"values":["{inventory[cpu][count]}",9]}}`: "condition lt: text and a " +
			"number have no order; force_strings compares them as text",
		`{"op":"gt","args":{"values":[3,2,1]}}`: "holds",
		`{"op":"gt","args":{"values":[3,2,2]}}`: "no",
		`{"op":"gt","args":{"values":[[1],[2]]}}`: "condition gt: a list and a " +
			"list have no order; force_strings compares them as text",
		`{"op":"is-empty","args":{"value":""}}`:                          "holds",
		`{"op":"is-empty","args":{"value":[]}}`:                          "holds",
		`{"op":"is-empty","args":{"value":{}}}`:                          "holds",
		`{"op":"is-empty","args":{"value":0}}`:                           "no",
		`{"op":"is-empty","args":{"value":"{inventory[none]}"}}`:         "holds",
		`{"op":"is-empty","args":{"value":"{inventory[no][where]}"}}`:    "holds",
		`{"op":"!is-empty","args":{"value":"{inventory[bmc_address]}"}}`: "holds",
		`{"op":"is-none","args":{"value":null}}`:                         "holds",
		// it is the text None
		`{"op":"is-none","args":{"value":"{inventory[none]}"}}`:                                     "no",
		`{"op":"is-none","args":{"value":"{inventory[nowhere]}"}}`:                                  "no",
		`{"op":"is-true","args":{"value":"{inventory[yes]}"}}`:                                      "holds",
		`{"op":"is-true","args":{"value":"YES"}}`:                                                   "holds",
		`{"op":"is-true","args":{"value":0.5}}`:                                                     "holds",
		`{"op":"is-true","args":{"value":"on"}}`:                                                    "no",
		`{"op":"is-true","args":{"value":[1]}}`:                                                     "no",
		`{"op":"is-false","args":{"value":"No"}}`:                                                   "holds",
		`{"op":"is-false","args":{"value":null}}`:                                                   "holds",
		`{"op":"is-false","args":{"value":0}}`:                                                      "holds",
		`{"op":"is-false","args":{"value":""}}`:                                                     "no",
		`{"op":"in-net","args":{"address":"{inventory[bmc_address]}","subnet":"10.1.0.0/16"}}`:      "holds",
		`{"op":"in-net","args":{"address":"10.2.0.1","subnet":"10.1.2.3/16"}}`:                      "no",
		`{"op":"in-net","args":{"address":"10.1.2.3","subnet":"10.1.2.3"}}`:                         "holds",
		`{"op":"in-net","args":{"address":"fe80::1%eth0","subnet":"fe80::/10"}}`:                    "holds",
		`{"op":"in-net","args":{"address":"fe80::1","subnet":"10.0.0.0/8"}}`:                        "no",
		`{"op":"in-net","args":{"address":"x","subnet":"10.0.0.0/8"}}`:                              `condition in-net: address "x" is not an IP address`,
		`{"op":"in-net","args":{"address":"10.0.0.1","subnet":"x"}}`:                                `condition in-net: subnet "x" is not a network such as 10.0.0.0/8`,
		`{"op":"matches","args":{"value":"{inventory[cpu][architecture]}","regex":"x86|x86_64"}}`:   "holds",
		`{"op":"matches","args":{"value":"{inventory[cpu][architecture]}","regex":"x86"}}`:          "no",
		`{"op":"matches","args":{"value":{"a":[true,null]},"regex":"\\{'a': \\[True, None\\]\\}"}}`: "holds",
		`{"op":"contains","args":{"value":"Dell Inc.","regex":"(?i)dELL"}}`:                         "holds",
		`{"op":"contains","args":{"value":"{inventory[cpu][count]}","regex":"9"}}`:                  "no",
		`{"op":"one-of","args":{"value":"{node.name}","values":["n0","n1"]}}`:                       "holds",
		`{"op":"one-of","args":{"value":2,"values":[1,[2]]}}`:                                       "no",
		`{"op":"one-of","args":{"value":2}}`:                                                        "no",
		`{"op":"eq","args":[["{inventory[disks][1][size]}","200"]]}`:                                "holds",
		// both stay as they are
		`{"op":"eq","args":[["{inventory[disks][2][size]}","{inventory[disks][2][size]}"]]}`: "holds",
		`{"op":"eq","args":[["{node.driver!r}{{}}","'redfish'{}"]]}`:                         "holds",
		// no format specifications
		`{"op":"eq","args":[["{node.properties[cpus]:>5}","{node.properties[cpus]:>5}"]]}`:             "holds",
		`{"op":"eq","args":[["{node.traits} {plugin_data[a]}","['CUSTOM_A'] {'b': [1], 'c': None}"]]}`: "holds",
		`{"op":"eq","args":[["{inventory[bmc_password]}","******"]]}`:                                  "holds",
		`{"op":"eq","args":[["{node.driver_info[redfish_password]}","******"]]}`:                       "holds",
		`{"op":"contains","args":["{node.driver_info} {inventory}","pa55"]}`:                           "no",
		// values of a machine are not searched
		`{"op":"eq","args":[["{inventory[serial]}","{{node.name}}"]]}`:                                  "holds",
		`{"op":"eq","args":{"values":["{item}",8]},"loop":["7","{inventory[cpu][count]}"]}`:             "holds",
		`{"op":"eq","args":{"values":["{item}",8]},"loop":["8","7"],"multiple":"all"}`:                  "no",
		`{"op":"eq","args":{"values":["{item}",8]},"loop":["8",8],"multiple":"all"}`:                    "holds",
		`{"op":"eq","args":{"values":["{item}",8]},"loop":[7,8],"multiple":"first"}`:                    "holds",
		`{"op":"eq","args":{"values":["{item}",8]},"loop":[8,7],"multiple":"last"}`:                     "no",
		`{"op":"!eq","args":{"values":["{item}",8]},"loop":[8,7],"multiple":"last"}`:                    "holds",
		`{"op":"eq","args":{"values":["{item[a]}","{item[b]}"]},"loop":{"a":"n1","b":"{node.name}"}}`:   "holds",
		`{"op":"eq","args":{"values":["{item[a]}",1]},"loop":[{"a":1}],"multiple":"first"}`:             "holds",
		`{"op":"eq","args":{"values":[1,2]},"loop":[]}`:                                                 "no",
		`{"op":"matches","args":{"value":"{item}","regex":"{item}"},"loop":["a"]}`:                      "holds",
		`{"op":"matches","args":{"value":"a","regex":"{item}"},"loop":["("]}`:                           "condition matches: invalid regular expression: error parsing regexp: missing closing ): `(`",
		`{"op":"contains","args":["{inventory[serial]}","^\\{node.name\\}$"]}`:                          "holds",
		`{"op":"eq","args":{"values":["{item}","{{node.name}}"]},"loop":["{inventory[serial]}"]}`:       "holds",
		`{"op":"is-empty","args":{"value":"{item}"},"loop":["{inventory[gone]}","x"],"multiple":"any"}`: "holds",
	} {
		got := "no"
		out, err := Apply([]node.InspectionRule{rule(t, "["+condition+"]", "")}, found(t))
		switch {
		case err != nil:
			got = strings.TrimPrefix(err.Error(), "inspection rule r1: ")
		case out.Node.Extra["held"] == true:
			got = "holds"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", condition, got, want)
		}
	}
}

// flatten writes the values that rules may change as paths and JSON.
func flatten(t *testing.T, f Found) map[string]string {
	t.Helper()
	flat := map[string]string{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		if m, ok := v.(map[string]any); ok && len(m) > 0 {
			for k, item := range m {
				walk(at+"."+k, item)
			}
			return
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		flat[at] = string(raw)
	}
	for at, v := range map[string]any{"node": f.Node, "plugin": f.PluginData, "port0": f.Ports[0], "port1": f.Ports[1]} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		walk(at, decode(t, string(raw)))
	}
	return flat
}

// difference lists the changed values, and the values that are gone.
func difference(before, after map[string]string) []string {
	all := maps.Clone(before)
	maps.Copy(all, after)
	var out []string
	for _, at := range slices.Sorted(maps.Keys(all)) {
		is, has := after[at]
		if !has {
			is = "gone"
		}
		if is != before[at] {
			out = append(out, at+"="+is)
		}
	}
	return out
}

func TestOrder(t *testing.T) {
	one := func(uuid string, priority int, text string) node.InspectionRule {
		r := rule(t, "", fmt.Sprintf(`[{"op":"set-attribute","args":["description","{node.description}%s"]}]`, text))
		r.UUID, r.Priority = uuid, priority
		return r
	}
	out, err := Apply([]node.InspectionRule{one("a", 0, "1"), one("b", 10, "2"), one("c", 0, "3"), one("d", 20, "4")},
		found(t))
	if err != nil || out.Node.Description != "words4213" {
		t.Errorf("rules went in the order %s (%v)", out.Node.Description, err)
	}
}

// TestSensitive: the reason why a clause of a sensitive rule fails is hidden, except the rule's own text.
func TestSensitive(t *testing.T) {
	for acts, want := range map[string]string{
		`[{"op":"fail","args":["no"]}]`: "inspection rule r1: action fail: no",
		`[{"op":"set-attribute","args":["name","pa55 {x}"]}]`: "inspection rule r1: action set-attribute failed; " +
			"the reason is hidden, since the rule is sensitive",
		`[{"op":"set-attribute","args":["nowhere/pa55","p"]}]`: "inspection rule r1: action set-attribute failed; " +
			"the reason is hidden, since the rule is sensitive",
		`[{"op":"set-attribute","args":["extra/a","pa55 {x}"]}]`: "",
	} {
		r := rule(t, "", acts)
		r.Sensitive = true
		out, err := Apply([]node.InspectionRule{r}, found(t))
		if got := fmt.Sprint(err); want != "" && got != want || want == "" && err != nil {
			t.Errorf("%s: %s, want %q", acts, got, want)
		}
		for _, l := range out.Lines {
			if strings.Contains(l.Text, "pa55") {
				t.Errorf("%s tells %q", acts, l.Text)
			}
		}
	}
}

// TestBounds: work that would go on for long, and results that could not be
// shown, end in an error.
func TestBounds(t *testing.T) {
	many := `["x"` + strings.Repeat(`,"x"`, 50_000) + `]`
	big := strings.Repeat("a", 20_000)
	for name, tc := range map[string]struct{ conditions, actions, want string }{
		"text": {"", `[{"op":"set-attribute","args":["extra/a","` + strings.Repeat("{inventory}", 60_000) + `"]}]`,
			"too much work"},
		"doubling": {
			"", `[{"op":"set-plugin-data","args":{"path":"a","value":"{plugin_data}{plugin_data}"},"loop":` + many + `}]`,
			"too much work",
		},
		"pattern": {`[{"op":"contains","args":{"value":"` + big + `","regex":"(a?){900}b"},"loop":` + many + `}]`, "",
			"too much work"},
		"lists": {"", `[{"op":"extend-attribute","args":["extra/l","y"],"loop":` + many + `}]`, "too much work"},
		"size": {
			"", `[{"op":"extend-attribute","args":["extra/l","` + big + `"],"loop":["x"` + strings.Repeat(`,"x"`, 99) + `]}]`,
			"bytes of JSON, the limit is 65536",
		},
		"a config drive elsewhere": {
			"", `[{"op":"extend-attribute","args":["extra/configdrive","` + big + `"],"loop":["x"` + strings.Repeat(`,"x"`, 9) + `]}]`,
			"bytes of JSON, the limit is 65536",
		},
		"depth": {
			"", `[{"op":"set-attribute","args":["extra` + strings.Repeat("/a", 20) +
				`",{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}]}]`, "nested deeper than 25 levels",
		},
		"calls": {"", `[{"op":"api-call","args":["http://h"],"loop":` + many + `}]`,
			"the rules of one inspection may call 20 times"},
	} {
		_, err := Apply([]node.InspectionRule{rule(t, tc.conditions, tc.actions)}, found(t))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %.200v, want %q", name, err, tc.want)
		}
	}
	out, err := Apply([]node.InspectionRule{rule(t, "", `[{"op":"log","args":["x"],"loop":`+many+`}]`)}, found(t))
	if err != nil || len(out.Lines) != maxLines+1 ||
		out.Lines[maxLines].Text != "49951 more lines of inspection rules are left out" {
		t.Errorf("%d lines, %v", len(out.Lines), err)
	}
	full := found(t)
	full.Node.Traits = nil
	for i := range node.MaxTraits {
		full.Node.Traits = append(full.Node.Traits, fmt.Sprintf("CUSTOM_%02d", i))
	}
	if _, err := Apply([]node.InspectionRule{rule(t, "", `[{"op":"add-trait","args":["CUSTOM_X"]}]`)}, full); err == nil ||
		!strings.Contains(err.Error(), "51 traits, the limit is 50") {
		t.Errorf("one trait too many: %v", err)
	}
}
