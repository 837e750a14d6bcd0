package node

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKeys holds the rows of the table to its rules.
func TestKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Keys {
		id := string(k.Place) + "/" + k.Name
		switch {
		case seen[id]:
			t.Errorf("%s has two rows", id)
		case keyChecks[k.Kind] == nil:
			t.Errorf("%s is of the unknown kind %q", id, k.Kind)
		case !slices.Contains(InterfaceKinds(), k.Interface) || k.Interface == "vendor": // GET validate leaves vendor out
			t.Errorf("%s belongs to the unknown interface %q", id, k.Interface)
		case k.Text == "" || k.Treatment == Acted && !strings.HasSuffix(k.Text, "."):
			t.Errorf("%s: its text is %q, expected a sentence", id, k.Text)
		case k.Treatment != Acted && strings.HasSuffix(k.Text, "."):
			t.Errorf("%s: its text is %q, expected words that continue a sentence", id, k.Text)
		}
		if _, ok := HardwareTypeByName(k.Hardware); k.Hardware != "" && !ok {
			t.Errorf("%s is for the unknown hardware type %q", id, k.Hardware)
		}
		seen[id] = true
	}
}

// TestCheckKeys: values that can never work are refused, the others pass.
func TestCheckKeys(t *testing.T) {
	line := strings.Repeat("a", maxKernelLine)
	for _, c := range []struct {
		place KeyPlace
		key   string
		value any
		want  string // a part of the error; "" for none
	}{
		{InDriverInfo, "redfish_address", nil, ""},
		{InDriverInfo, "redfish_username", 12345.0, ""}, // Ironic's client makes numbers of digits
		{InDriverInfo, "redfish_username", true, "driver_info/redfish_username must be text, not true or false"},
		{InDriverInfo, "redfish_password", []any{"secret"}, "must be text, not a list"},
		{InDriverInfo, "deploy_kernel", 5.0, "must be text, not a number"},
		{InDriverInfo, "bmc_call_timeout", map[string]any{}, "must be a number, not an object"},
		{InDriverInfo, "bootloader", []any{}, ""}, // without effect: GET validate names it
		{InDriverInfo, "no_such_key", []any{}, ""},
		{InDriverInfo, "kernel_append_params", "console=ttyS0 %default%", ""},
		{InDriverInfo, "kernel_append_params", "a\nb", "driver_info/kernel_append_params holds a line break"},
		{InDriverInfo, "kernel_append_params", "a\x00", "control character"},
		{InDriverInfo, "kernel_append_params", `a="b"`, "holds a quote"},
		{InDriverInfo, "kernel_append_params", `a\`, "holds a quote or a backslash"},
		{InDriverInfo, "kernel_append_params", "a=${net0/mac}", "which iPXE would replace"},
		{InDriverInfo, "kernel_append_params", line, ""},
		{InDriverInfo, "kernel_append_params", line + "a", "2048 bytes"},
		{InDriverInfo, "kernel_append_params", 1.0, "must be text, not a number"},
		{InInstanceInfo, "kernel_append_params", "a\rb", "instance_info/kernel_append_params holds a line break"},
		{InInstanceInfo, "ramdisk_kernel_arguments", "'", "holds a quote"},
		{InDriverInfo, "vmedia_transport_protocol", "https", ""},
		{InDriverInfo, "vmedia_transport_protocol", "nfs", "is NFS: boot media are served by HTTP and HTTPS alone"},
		{InDriverInfo, "vmedia_transport_protocol", "FTP", "must be HTTP or HTTPS"},
		{InDriverInfo, "force_persistent_boot_device", "Default", ""},
		{InDriverInfo, "force_persistent_boot_device", false, ""},
		{InDriverInfo, "force_persistent_boot_device", "sometimes", "must be Always, Never or Default"},
		{InDriverInfo, "image_http_proxy", "proxy.example:3128", ""},
		{InDriverInfo, "image_http_proxy", "", ""},
		{InDriverInfo, "image_https_proxy", "http://user:secret@proxy.example:3128", ""},
		{InDriverInfo, "image_https_proxy", "user:secret@proxy.example:3128", "has a user but no scheme"},
		{InDriverInfo, "image_http_proxy", "socks5://user:secret@proxy", "must be the URL of a proxy"},
		{InInstanceInfo, "capabilities", `{"boot_mode":"uefi"}`, ""},
		{InInstanceInfo, "capabilities", true, "instance_info/capabilities must be an object, not true or false"},
		{InProperties, "root_device", []any{}, "properties/root_device must be an object, not a list"},
		{InProperties, "memory_mb", "a lot", ""}, // the API checks it in Ironic's words
	} {
		var n Node
		for _, f := range keyFields {
			if f.name == c.place {
				*f.at(&n) = map[string]any{c.key: c.value}
			}
		}
		err := CheckKeys(Node{}, n)
		switch {
		case c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s/%s = %.40v: got error %v, want %q", c.place, c.key, c.value, err, c.want)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("%s/%s: the error %q quotes a value", c.place, c.key, err)
		}
		if err := CheckKeys(n, n); err != nil {
			t.Errorf("%s/%s: a node with the value as before is refused: %v", c.place, c.key, err)
		}
	}
}

// TestKeyNotes: keys without an effect are named under their interface, the others are not.
func TestKeyNotes(t *testing.T) {
	for _, c := range []struct {
		of   Node
		want map[string][]string
	}{
		{Node{Driver: "redfish", DriverInfo: map[string]any{"redfish_address": "x", "redfish_adress": "x"}},
			map[string][]string{"power": {"driver_info: unknown key 'redfish_adress', nearest known: redfish_address"}}},
		{Node{Driver: "ilo", DriverInfo: map[string]any{"ilo_address": "x", "ilo_pasword": "x"}},
			map[string][]string{"power": {"driver_info: unknown key 'ilo_pasword', nearest known: ilo_password"}}},
		{Node{Driver: "redfish", DriverInfo: map[string]any{"ipmi_address": "x", "ansible_username": "x"}},
			map[string][]string{
				"power": {"driver_info: ipmi_address has no effect: it is a key of the hardware type ipmi, and the node has " +
					"redfish"},
				"deploy": {"driver_info: ansible_username has no effect: the deploy interface ansible is not built: use direct, " +
					"and configure the system by its config drive"}}},
		{Node{Driver: "redfish", Interfaces: map[string]string{"console": "ipmitool-socat"},
			DriverInfo: map[string]any{"ipmi_port": 623}}, map[string][]string{}},
		{Node{Driver: "ipmi", DriverInfo: map[string]any{"zzzz": 1}},
			map[string][]string{"management": {"driver_info: unknown key 'zzzz': nothing here reads it"}}},
		{Node{Properties: map[string]any{"deploy_kernel": "x", "vendor": "y"}},
			map[string][]string{"boot": {"properties: unknown key 'deploy_kernel', which belongs into driver_info"}}},
		{Node{Properties: map[string]any{"capabilities": "boot_mode:uefi,boot_mod:uefi,cpu_vt:true"}},
			map[string][]string{"deploy": {"properties/capabilities: unknown key 'boot_mod', nearest known: boot_mode"}}},
		{Node{InstanceInfo: map[string]any{"capabilities": `{"iscsi_boot":"true"}`}},
			map[string][]string{"deploy": {
				"instance_info/capabilities: iscsi_boot has no effect: boot from volume is not built: use an image"}}},
		{Node{InstanceInfo: map[string]any{strings.Repeat("é\n", 100): 1}},
			map[string][]string{"deploy": {"instance_info: unknown key '" + strings.Repeat(`é\n`, 21) +
				"...': nothing here reads it"}}},
	} {
		if diff := cmp.Diff(c.want, c.of.KeyNotes()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.of, diff)
		}
	}
}

// TestManyKeys: a field with many keys costs little and gives few notes.
func TestManyKeys(t *testing.T) {
	n := Node{InstanceInfo: map[string]any{}}
	for i := range 100_000 {
		n.InstanceInfo[fmt.Sprint("key", i)] = true
	}
	notes := n.KeyNotes()["deploy"]
	if len(notes) != maxKeyNotes+1 || notes[maxKeyNotes] != "instance_info: 99980 more keys were not looked at" {
		t.Errorf("got %d notes, the last is %q", len(notes), notes[len(notes)-1])
	}
}

const keyPage = "../../docs/node-keys.md"

// TestKeyPage: docs/node-keys.md is the table.
func TestKeyPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Keys of a node

<!-- generated by: go test ./conductor/node -run TestKeyPage -update -->

Ironic keeps many settings of a node as keys of free-form fields. Every key that Ironic 2026.2 knows is in a table
below, with Ferrite's own.

| effect | meaning |
|---|---|
| acted upon | the conductor or its agent acts upon it. A value that can never work is refused with 400 |
| kept | stored for schedulers, other tools and people, as in Ironic |
| not built | Ironic acts upon it, Ferrite does not. ` + "`GET /v1/nodes/NODE/validate`" + ` (` + "`ferrite node validate`" +
		`) names it with this reason |

Validation also names unknown keys, with the nearest known one, and keys of another hardware type. The interface stays
valid: Ironic ignores such keys, and a site may keep its own. Vendors' hardware types have keys of their own, such as
` + "`ilo_address`" + `, with the meaning of ` + "`redfish_address`" + `. A ` + "`*`" + ` stands for any rest. ` + "`null`" + ` is always
taken, and counts as no value.
`)
	for _, p := range []struct {
		place KeyPlace
		about string
	}{
		{InDriverInfo, "Settings of the machine and its BMC."},
		{InInstanceInfo, "Settings of the instance on the machine; undeploying the node clears them."},
		{InProperties, "Facts about the machine."},
		{InCapabilities, "In properties: text like `boot_mode:uefi,kexec:never`. In instance_info also an object."},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| key | value | hardware type | effect | |\n|---|---|---|---|---|\n", p.place,
			p.about)
		for _, k := range Keys {
			if k.Place == p.place {
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Name, k.Kind, k.Hardware, k.Treatment, k.Text)
			}
		}
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(keyPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	is, err := os.ReadFile(keyPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(is)); diff != "" {
		t.Errorf("docs/node-keys.md is not up to date, run with -update (-want +is):\n%s", diff)
	}
}
