package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// found is a node with a port each of whose attributes is something.
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
		// what a machine says is not searched
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

// TestActions: what each action changes, as a diff of the node, its ports and
// the plugin data in JSON.
func TestActions(t *testing.T) {
	for action, want := range map[string]string{
		`{"op":"set-attribute","args":["name","{node.driver}-1"]}`:                       `node.name="redfish-1"`,
		`{"op":"set-attribute","args":["/description","{inventory[cpu][count]} cores"]}`: `node.description="8 cores"`,
		`{"op":"set-attribute","args":["description",null]}`:                             `node.description=gone`,
		`{"op":"set-attribute","args":["resource_class",7]}`:                             `node.resource_class="7"`,
		`{"op":"set-attribute","args":["retired","yes"]}`:                                `node.retired=true`,
		`{"op":"set-attribute","args":["automated_clean",false]}`:                        `node.automated_clean=false`,
		`{"op":"set-attribute","args":["deploy_interface","ramdisk"]}`:                   `node.interfaces.deploy="ramdisk"`,
		`{"op":"set-attribute","args":["deploy_interface",null]}`:                        ``,
		`{"op":"set-attribute","args":["extra.deep.er.more",[1,"{node.name}"]]}`:         `node.extra.deep.er.more=[1,"n1"]`,
		`{"op":"set-attribute","args":["instance_info/a/b",1]}`:                          `node.instance_info.a.b=1`,
		`{"op":"set-attribute","args":["properties",{"{node.name}":2}]}`:                 `node.properties.capabilities=gone node.properties.cpus=gone node.properties.n1=2`,
		// not filled in
		`{"op":"set-attribute","args":{"path":"extra/{node.name}","value":1}}`:                                                              `node.extra.{node.name}=1`,
		`{"op":"set-attribute","args":{"path":"extra/{item[k]}","value":"{item[v]}"},"loop":[{"k":"a","v":"{node.name}"},{"k":"b","v":2}]}`: `node.extra.a="n1" node.extra.b="2"`,
		`{"op":"set-attribute","args":{"path":"extra/a","value":"{item[password]}"},"loop":{"password":"mine"}}`:                            `node.extra.a="mine"`,
		`{"op":"extend-attribute","args":["extra/list",1]}`:                                                                                 `node.extra.list=[1,1]`,
		`{"op":"extend-attribute","args":{"path":"extra/list","value":1,"unique":true}}`:                                                    ``,
		`{"op":"extend-attribute","args":["extra/new/list","{node.name}"]}`:                                                                 `node.extra.new.list=["n1"]`,
		`{"op":"del-attribute","args":["extra/deep/er"]}`:                                                                                   `node.extra.deep={} node.extra.deep.er.k=gone`,
		`{"op":"del-attribute","args":["extra/no/such"]}`:                                                                                   ``,
		`{"op":"del-attribute","args":["description"]}`:                                                                                     `node.description=gone`,
		`{"op":"del-attribute","args":["extra"]}`:                                                                                           `node.extra.deep.er.k=gone node.extra.list=gone`,
		`{"op":"set-capability","args":["a","{inventory[cpu][count]}"]}`:                                                                    `node.properties.capabilities="boot_mode:uefi,a:8"`,
		`{"op":"set-capability","args":["b","2"]}`:                                                                                          `node.properties.capabilities="boot_mode:uefi,a:1,b:2"`,
		`{"op":"unset-capability","args":["boot_mode"]}`:                                                                                    `node.properties.capabilities="a:1"`,
		`{"op":"unset-capability","args":["x"]}`:                                                                                            ``,
		`{"op":"add-trait","args":["CUSTOM_0"]}`:                                                                                            `node.traits=["CUSTOM_0","CUSTOM_A"]`,
		`{"op":"add-trait","args":["CUSTOM_A"]}`:                                                                                            ``,
		`{"op":"add-trait","args":{"name":"CUSTOM_{item}"},"loop":["B","C"]}`:                                                               `node.traits=["CUSTOM_A","CUSTOM_B","CUSTOM_C"]`,
		`{"op":"remove-trait","args":["CUSTOM_A"]}`:                                                                                         `node.traits=gone`,
		`{"op":"remove-trait","args":["CUSTOM_B"]}`:                                                                                         ``,
		`{"op":"set-plugin-data","args":["a.d.e","{node.name}"]}`:                                                                           `plugin.a.d.e="n1"`,
		`{"op":"set-plugin-data","args":{"path":["a","b.c"],"value":1}}`:                                                                    `plugin.a.b.c=1`,
		`{"op":"extend-plugin-data","args":["a.b",2]}`:                                                                                      `plugin.a.b=[1,2]`,
		`{"op":"extend-plugin-data","args":{"path":"a.b","value":1,"unique":true}}`:                                                         ``,
		`{"op":"extend-plugin-data","args":["a.c",2]}`:                                                                                      `plugin.a.c=[2]`,
		`{"op":"unset-plugin-data","args":["logs"]}`:                                                                                        `plugin.logs=gone`,
		`{"op":"unset-plugin-data","args":["a.x.y"]}`:                                                                                       ``,
		`{"op":"set-port-attribute","args":["22222222-0000-4000-8000-000000000001","extra/k","{inventory[yes]}"]}`:                          `port0.extra.k="True"`,
		`{"op":"set-port-attribute","args":["52:54:00:00:00:02","physical_network","net"]}`:                                                 `port1.physical_network="net"`,
		`{"op":"set-port-attribute","args":["52:54:00:00:00:01","pxe_enabled",false]}`:                                                      `port0.pxe_enabled=false`,
		`{"op":"set-port-attribute","args":["52:54:00:00:00:01","local_link_connection",{"port_id":"e1"}]}`:                                 `port0.local_link_connection.port_id="e1"`,
		`{"op":"extend-port-attribute","args":["52:54:00:00:00:01","extra/l",1]}`:                                                           `port0.extra.l=[1]`,
		`{"op":"del-port-attribute","args":["52:54:00:00:00:01","extra/k"]}`:                                                                `port0.extra.k=gone`,
		`{"op":"log","args":["found {node.name}"]}`:                                                                                         `INFO: found n1`,
		`{"op":"log","args":{"msg":"{node.driver_info}","level":"Critical"}}`:                                                               `ERROR: {'redfish_address': 'https://******@h', 'redfish_password': '******'}`,
		`{"op":"log","args":{"msg":"{item}","level":"warning"},"loop":[1,"b"]}`:                                                             `WARNING: 1 WARNING: b`,
		`{"op":"set-attribute","args":["description","{inventory[gone]}"]}`:                                                                 `node.description="{inventory[gone]}" WARNING: inspection rule r1: "{inventory[gone]}" stays as it is: there is no "gone"`,
		`{"op":"set-attribute","args":["description","{node[name]} {}"]}`:                                                                   `node.description="{node[name]} {}" WARNING: inspection rule r1: "{node[name]} {}" stays as it is: a field cannot begin with "node": inventory, plugin_data, node.<attribute> and in loops item are known`,
		`{"op":"api-call","args":{"url":"http://h/{node.name}","headers":{"X":1},"retries":"2","backoff_factor":0}}`:                        `call {"rule":"r1","url":"http://h/n1","headers":{"X":"1"},"timeout":5000000000,"retries":2,"backoff":0}`,

		`{"op":"fail","args":["{node.name} is no good"]}`:                         "! n1 is no good",
		`{"op":"log","args":["x","loud"]}`:                                        `! there is no level "loud": debug, info, warning, error and critical are known`,
		`{"op":"set-attribute","args":["name","a b"]}`:                            `! name: "a b" is not a valid node name: it is made of letters, digits and -._~, and is no UUID`,
		`{"op":"set-attribute","args":["name","taken"]}`:                          `! the name taken is another node's`,
		`{"op":"set-attribute","args":["uuid","x"]}`:                              `! rules cannot change "uuid" of a node`,
		`{"op":"set-attribute","args":["driver","ipmi"]}`:                         `! rules cannot change "driver" of a node`,
		`{"op":"set-attribute","args":["provision_state","active"]}`:              `! rules cannot change "provision_state" of a node`,
		`{"op":"set-attribute","args":["description/x",1]}`:                       `! description: it has no parts`,
		`{"op":"set-attribute","args":["extra/list/x",1]}`:                        `! extra: list is a list, not an object`,
		`{"op":"set-attribute","args":["extra//x",1]}`:                            `! path "extra//x" has a part without a name`,
		`{"op":"set-attribute","args":["",1]}`:                                    `! path "" has a part without a name`,
		`{"op":"set-attribute","args":["extra",[]]}`:                              `! extra: value must be an object, not a list`,
		`{"op":"set-attribute","args":["retired","maybe"]}`:                       `! retired: value must be true or false, not text`,
		`{"op":"set-attribute","args":["description",{}]}`:                        `! description: value must be text, not an object`,
		`{"op":"set-attribute","args":["boot_interface","x"]}`:                    `! boot_interface: x is no boot interface of redfish, which has [ipxe pxe http http-ipxe redfish-virtual-media]`,
		`{"op":"extend-attribute","args":["traits","x"]}`:                         `! rules cannot change "traits" of a node`,
		`{"op":"extend-attribute","args":["extra",1]}`:                            `! extra: it is not a list`,
		`{"op":"extend-attribute","args":["extra/deep",1]}`:                       `! extra: deep: it is an object, not a list`,
		`{"op":"set-capability","args":["a,b","1"]}`:                              `! a capability is written name:value between commas, so "a,b" cannot be one`,
		`{"op":"add-trait","args":["custom"]}`:                                    `! "custom" is no trait: a custom one is CUSTOM_ with capital letters, digits and _`,
		`{"op":"set-port-attribute","args":["52:54:00:00:00:03","extra/a",1]}`:    `! the node has no port "52:54:00:00:00:03"`,
		`{"op":"set-port-attribute","args":["","extra/a",1]}`:                     `! the node has no port ""`,
		`{"op":"set-port-attribute","args":["52:54:00:00:00:01","address","x"]}`:  `! rules cannot change "address" of a port`,
		`{"op":"api-call","args":["file:///etc/passwd"]}`:                         `! url "file:///etc/passwd" is not the URL of an HTTP server`,
		`{"op":"api-call","args":{"url":"http://h","timeout":0}}`:                 `! timeout must be greater than zero`,
		`{"op":"api-call","args":{"url":"http://h","retries":11}}`:                `! retries must be from 0 to 10`,
		`{"op":"set-plugin-data","args":["` + strings.Repeat("a.", 25) + `a",1]}`: `! the path has 26 parts, the limit is 25`,
		`{"op":"set-attribute","args":["extra/a.b/c",[1]]}`:                       `node.extra.a.b.c=[1]`,
	} {
		before := found(t)
		before.NameTaken = "taken"
		clean := flatten(t, before)
		out, err := Apply([]node.InspectionRule{rule(t, "", "["+action+"]")}, before)
		var got []string
		if err != nil {
			_, why, _ := strings.Cut(strings.TrimPrefix(err.Error(), "inspection rule r1: "), ": ")
			if strings.Contains(err.Error(), "another node's") {
				why = "the name taken is another node's"
			}
			got = append(got, "! "+why)
		}
		got = append(got, difference(clean, flatten(t, out.Found))...)
		for _, l := range out.Lines {
			got = append(got, l.Severity+": "+l.Text)
		}
		for _, c := range out.Calls {
			raw, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, "call "+string(raw))
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", action, diff)
		}
		if diff := cmp.Diff(clean, flatten(t, before)); diff != "" {
			t.Errorf("%s changes what it was given:\n%s", action, diff)
		}
	}
}

// flatten writes what rules may change as paths and JSON.
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

// difference tells what has another value, and what is gone.
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

// TestSensitive: why a clause of a sensitive rule fails is hidden, but for
// what it means to tell.
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
			"bytes, the limit is 1048576",
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
