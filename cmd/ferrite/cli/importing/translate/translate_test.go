package translate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// redfishOnly is a conductor with two drivers.
func redfishOnly() Drivers {
	return Drivers{
		"redfish": {
			"boot": {"ipxe", "pxe", "redfish-virtual-media"}, "power": {"redfish"}, "management": {"redfish"},
			"inspect": {"redfish", "agent"}, "deploy": {"direct", "ramdisk"}, "network": {"noop", "flat"}, "storage": {"noop"},
			"raid": {"redfish", "no-raid"}, "vendor": {"no-vendor"}, "console": {"no-console"},
		},
		"ipmi": {"boot": {"ipxe"}, "power": {"ipmitool"}, "management": {"ipmitool"}},
	}
}

func records(t *testing.T, text string) (all []Record) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestNodes translates one node in each case: the wanted fields are among its own, and the notes are all of them.
func TestNodes(t *testing.T) {
	for _, tc := range []struct {
		name, node string
		with       Options
		want       string // of the import's node
		skip       string
		notes      []string
	}{
		{name: "as it is", node: `{"driver": "redfish", "boot_interface": "ipxe", "power_state": "power on",
			"maintenance": false, "lessee": null, "links": [1], "driver_internal_info": {"agent_secret_token": "x"}}`,
			want: `{"driver": "redfish", "boot_interface": "ipxe", "power_state": "power on", "maintenance": false}`},
		{name: "an unknown power state", node: `{"driver": "redfish", "power_state": "error"}`, want: `{"driver": "redfish"}`},
		{name: "at work", node: `{"driver": "redfish", "provision_state": "cleaning"}`,
			skip: "Ironic is at work on it (cleaning)"},
		{name: "a state that nobody knows", node: `{"driver": "redfish", "provision_state": "dreaming"}`,
			skip: "Ironic is at work on it (dreaming)"},
		{name: "held", node: `{"driver": "redfish", "provision_state": "deploy hold"}`, skip: "deploy hold"},
		{name: "failed", node: `{"driver": "redfish", "provision_state": "clean failed", "last_error": "the disk"}`,
			want: `{"driver": "redfish", "provision_state": "clean failed", "last_error": "the disk"}`},
		{name: "reserved", node: `{"driver": "redfish", "reservation": "host-1"}`, skip: "host-1 has it reserved"},
		{name: "being switched", node: `{"driver": "redfish", "target_power_state": "power off"}`, skip: `changed to "power off"`},
		{name: "a vendor's driver", node: `{"driver": "ilo5", "boot_interface": "ilo-ipxe", "management_interface": "ilo5",
			"driver_info": {"ilo_address": "192.0.2.1", "ilo_password": "p", "other": 1}}`,
			want: `{"driver": "redfish", "boot_interface": "ipxe", "management_interface": "redfish",
				"driver_info": {"redfish_address": "192.0.2.1", "redfish_password": "p", "other": 1}}`,
			notes: []string{"driver ilo5 becomes redfish", "boot_interface ilo-ipxe becomes ipxe",
				"management_interface ilo5 becomes redfish"}},
		{name: "a driver that nothing does for", node: `{"driver": "snmp"}`,
			skip: "its driver snmp is not enabled here (enabled: ipmi, redfish)"},
		{name: "a driver that is replaced", node: `{"driver": "snmp", "power_interface": "snmp"}`,
			with:  Options{Replace: Replacements{"driver": {"snmp": "redfish"}, "power_interface": {"snmp": "redfish"}}},
			want:  `{"driver": "redfish", "power_interface": "redfish"}`,
			notes: []string{"driver snmp becomes redfish (--replace)", "power_interface snmp becomes redfish (--replace)"}},
		{name: "interfaces that are not there", node: `{"driver": "redfish", "network_interface": "neutron",
			"storage_interface": "cinder", "deploy_interface": "ansible", "bios_interface": "redfish",
			"raid_interface": "agent", "rescue_interface": "no-rescue", "console_interface": "no-console"}`,
			want: `{"driver": "redfish", "network_interface": "flat", "storage_interface": "noop",
				"deploy_interface": "direct", "console_interface": "no-console"}`,
			notes: []string{"bios_interface redfish is left out: there is no such kind of interface here",
				"deploy_interface ansible becomes direct: its next deploy needs a disk image",
				"network_interface neutron becomes flat: Neutron changes no switch for it; start the conductor " +
					"with --neutron-networks, and import again",
				"raid_interface agent is not there and becomes the default (there are: redfish, no-raid)",
				"storage_interface cinder becomes noop: it cannot boot from its volumes here"}},
		{name: "ramdisks", node: `{"driver": "ipmi", "driver_info": {"deploy_kernel": "glance", "ipmi_port": 1}}`,
			want: `{"driver": "ipmi", "driver_info": {"ipmi_port": 1}}`,
			notes: []string{
				"driver_info deploy_kernel left out: the conductor boots its own ramdisk (--keep-ramdisks keeps them)"}},
		{name: "ramdisks that are kept", node: `{"driver": "ipmi", "driver_info": {"deploy_kernel": "k"}}`,
			with: Options{KeepRamdisks: true}, want: `{"driver": "ipmi", "driver_info": {"deploy_kernel": "k"}}`},
		{name: "groups and owners", node: `{"driver": "ipmi", "conductor_group": "a", "owner": "x", "lessee": "y"}`,
			with: Options{Replace: Replacements{"conductor_group": {"a": "b"}, "owner": {"x": "z"}}},
			want: `{"driver": "ipmi", "conductor_group": "b", "owner": "z", "lessee": "y"}`},
		{name: "what nobody knows here", node: `{"driver": "ipmi", "console_enabled": true, "flavour": "sweet"}`,
			want: `{"driver": "ipmi"}`,
			notes: []string{"field flavour is not known here and is left out",
				"its console was enabled: open it here with: ferrite node console n1"}},
		{name: "secrets", node: `{"driver": "ilo", "driver_info": {"ilo_address": "a", "ilo_password": "******"},
			"instance_info": {"configdrive": "******", "traits": []}}`,
			with: Options{Secrets: Secrets{"n1": {"driver_info": {"ilo_password": "p"},
				"instance_info": {"configdrive": "drive"}}}},
			want: `{"driver": "redfish", "driver_info": {"redfish_address": "a", "redfish_password": "p"},
				"instance_info": {"configdrive": "drive", "traits": []}}`,
			notes: []string{"driver ilo becomes redfish"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := records(t, "["+tc.node+"]")
			r[0]["uuid"] = "n1"
			if r[0]["provision_state"] == nil {
				r[0]["provision_state"] = "active"
			}
			tc.with.Drivers = redfishOnly()
			n := Nodes(Records{Nodes: r}, tc.with)[0]
			if tc.skip != "" || n.Skip != "" {
				if tc.skip == "" || !strings.Contains(n.Skip, tc.skip) {
					t.Errorf("left out since %q, want %q", n.Skip, tc.skip)
				}
				return
			}
			want := records(t, "["+tc.want+"]")[0]
			want["uuid"] = "n1"
			if want["provision_state"] == nil {
				want["provision_state"] = "active"
			}
			if d := cmp.Diff(want, n.Import.Node); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if d := cmp.Diff(tc.notes, n.Notes); d != "" {
				t.Errorf("notes: -want +got:\n%s", d)
			}
		})
	}
}

// TestRecords: ports and the rest come with their node, without Ironic's own fields.
func TestRecords(t *testing.T) {
	r := Records{
		Nodes: records(t, `[{"uuid": "c", "provision_state": "active", "driver": "ipmi", "parent_node": "p"},
			{"uuid": "p", "provision_state": "active", "driver": "ipmi", "instance_uuid": "a1"}]`),
		Ports: records(t, `[{"uuid": "1", "node_uuid": "p", "address": "a", "created_at": "x", "smell": "of roses",
			"internal_info": {"tenant_vif_port_id": "v", "cleaning_vif_port_id": "w"}}, {"uuid": "2", "node_uuid": "other"}]`),
		Targets: records(t, `[{"uuid": "t", "node_uuid": "p", "properties": {"auth_password": "******", "k": 1}}]`),
		Allocations: records(t, `[{"uuid": "a1", "node_uuid": "p", "state": "active", "name": "n", "last_error": null},
			{"uuid": "a2", "node_uuid": "c", "state": "active"}]`),
	}
	nodes := Nodes(r, Options{Drivers: redfishOnly(), Secrets: Secrets{"t": {"properties": {"auth_password": "words"}}}})
	if nodes[0].UUID != "p" || nodes[1].UUID != "c" {
		t.Fatalf("children come before their parents: %v, %v", nodes[0].UUID, nodes[1].UUID)
	}
	i := nodes[0].Import
	if d := cmp.Diff([]Record{{"uuid": "1", "address": "a", "internal_info": map[string]any{"tenant_vif_port_id": "v"}}},
		i.Ports); d != "" {
		t.Errorf("ports: %s", d)
	}
	if d := cmp.Diff([]Record{{"uuid": "t", "properties": map[string]any{"auth_password": "words", "k": 1.0}}},
		i.Targets); d != "" {
		t.Errorf("targets: %s", d)
	}
	if d := cmp.Diff(Record{"uuid": "a1", "name": "n"}, i.Allocation); d != "" {
		t.Errorf("allocation: %s", d)
	}
	if d := cmp.Diff([]string{"field smell of port 1 is not known here and is left out"}, nodes[0].Notes); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"allocation a2 is not its instance_uuid, and is left out"}, nodes[1].Notes); d != "" {
		t.Error(d)
	}
}

// TestCircle: nodes that are each other's parents end the search for parents.
func TestCircle(t *testing.T) {
	nodes := records(t, `[{"uuid": "a", "parent_node": "b"}, {"uuid": "b", "parent_node": "a"}]`)
	if got := parentsFirst(nodes); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// TestMasked names the values that are still masked; config drives can go.
func TestMasked(t *testing.T) {
	n := Nodes(Records{Nodes: records(t, `[{"uuid": "a", "provision_state": "active", "driver": "ipmi",
		"driver_info": {"ipmi_password": "******", "list": [{"x": "******"}]},
		"instance_info": {"configdrive": "******"}}]`)}, Options{Drivers: redfishOnly()})[0]
	if d := cmp.Diff([]string{"driver_info/ipmi_password", "driver_info/list", "instance_info/configdrive"},
		n.Masked()); d != "" {
		t.Error(d)
	}
	if !n.DropConfigDrive() || n.DropConfigDrive() || len(n.Masked()) != 2 {
		t.Errorf("after the config drive is gone: %v", n.Masked())
	}
}

// FuzzParseSecrets: no file of secrets ends the program.
func FuzzParseSecrets(f *testing.F) {
	for _, seed := range []string{"node,a\nx,1\n", "a\t{}\tNULL\n", "x: {y: z}", `{"x": {"driver_info": {"a": 1}}}`, "a\t[\t"} {
		f.Add("s.csv", []byte(seed))
		f.Add("s.tsv", []byte(seed))
		f.Add("s.yaml", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, name string, raw []byte) {
		s, err := ParseSecrets(name, raw)
		if err == nil && s == nil {
			t.Error("neither secrets nor an error")
		}
	})
}

// TestParseSecrets reads each form.
func TestParseSecrets(t *testing.T) {
	want := Secrets{"n1": {"driver_info": {"p": "x\ny"}}}
	for name, text := range map[string]string{
		"a.yaml": "n1:\n  p: \"x\\ny\"\n", "a.json": `{"n1": {"driver_info": {"p": "x\ny"}}}`, "a.csv": "node,q,p\nn1,,\"x\ny\"\n",
		"a.tsv": "uuid\tdriver_info\tinstance_info\nn1\t{\"p\": \"x\\\\ny\"}\tNULL\n",
	} {
		got, err := ParseSecrets(name, []byte(text))
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
	volume := Secrets{"v1": {"properties": {"p": "x"}}}
	got, err := ParseSecrets("a.tsv", []byte("v1\tNULL\tNULL\t{\"p\": \"x\"}\n"))
	if d := cmp.Diff(volume, got); err != nil || d != "" {
		t.Errorf("of a volume: %v\n%s", err, d)
	}
	for name, text := range map[string]string{
		"a.yaml": "- n", "a.csv": "", "a.tsv": "x", "b.tsv": "n\t{\tNULL", "c.csv": "node,a\nn\n",
	} {
		if got, err := ParseSecrets(name, []byte(text)); err == nil {
			t.Errorf("%s %q is read as %v", name, text, got)
		}
	}
}
