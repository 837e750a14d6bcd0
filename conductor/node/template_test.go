package node_test

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

func TestCheckTemplates(t *testing.T) {
	step := func(name string) node.Step { return node.Step{Interface: "bios", Step: name} }
	ordered := func(name string, order int) node.RunbookStep { return node.RunbookStep{Step: step(name), Order: order} }
	for _, c := range []struct {
		name, want string
		of         interface{ Check() error }
	}{
		{"a template", "", &node.DeployTemplate{Steps: []node.Step{step("a"), step("b"), {Interface: "raid", Step: "a"}}}},
		{"a template with steps twice", "Duplicates: interface: bios, step: a; interface: bios, step: b.",
			&node.DeployTemplate{Steps: []node.Step{step("b"), step("a"), step("b"), step("a"), step("a")}}},
		{"a runbook", "", &node.Runbook{Owner: "o", Steps: []node.RunbookStep{ordered("a", 1), ordered("b", 1)}}},
		{"a public runbook", "", &node.Runbook{Public: true}},
		{"a runbook with a step twice", "Duplicates: interface: bios, step: a.",
			&node.Runbook{Steps: []node.RunbookStep{ordered("a", 1), ordered("a", 2)}}},
		{"a public runbook of an owner", "cannot be an owner", &node.Runbook{Public: true, Owner: "o"}},
	} {
		err := c.of.Check()
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestValidTrait(t *testing.T) {
	for name, want := range map[string]bool{
		"CUSTOM_GOLD": true, "CUSTOM_1": true, "HW_CPU_X86_VMX": true, "COMPUTE_TRUSTED_CERTS": true,
		"STORAGE_DISK_SSD":          true,
		"MISC_SHARES_VIA_AGGREGATE": true, "OWNER_NOVA": true, "CUSTOM_" + strings.Repeat("A", 248): true,
		"": false, "bad": false, "GOLD": false, "CUSTOM_": false, "CUSTOM_gold": false, "custom_GOLD": false,
		"CUSTOM_A-B": false,
		"XCUSTOM_A":  false, "CUSTOM_A\n": false, "CUSTOM_" + strings.Repeat("A", 249): false,
	} {
		if got := node.ValidTrait(name); got != want {
			t.Errorf("ValidTrait(%q) is %v, want %v", name, got, want)
		}
	}
}
