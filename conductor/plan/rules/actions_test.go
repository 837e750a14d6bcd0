package rules

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestActions: the changes by each action, as a diff of the node, its ports and the plugin data in JSON.
func TestActions(t *testing.T) {
	for action, want := range map[string]string{
		`{"op":"set-attribute","args":["name","{node.driver}-1"]}`:                       `node.name="redfish-1"`,
		`{"op":"set-attribute","args":["/description","{inventory[cpu][count]} cores"]}`: `node.description="8 cores"`,
		`{"op":"set-attribute","args":["description",null]}`:                             `node.description=gone`,
		`{"op":"set-attribute","args":["resource_class",7]}`:                             `node.resource_class="7"`,
		`{"op":"set-attribute","args":["retired","yes"]}`:                                `node.retired=true`,
		`{"op":"set-attribute","args":["automated_clean",false]}`:                        `node.automated_clean=false`,
		`{"op":"set-attribute","args":["deploy_interface","ramdisk"]}`:                   `node.interfaces.deploy="ramdisk"`,
		`{"op":"set-attribute","args":["deploy_interface",null]}`:                        `node.interfaces.deploy=""`,
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
