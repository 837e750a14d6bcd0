package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestStepPriorities: a priority of a step that no automatic step can be is refused by name.
func TestStepPriorities(t *testing.T) {
	offers := []node.StepOffer{
		{Interface: "management", Step: "clear_job_queue", Priority: map[node.Framework]int{"verify": 0, "clean": 0}},
		{Interface: "bios", Step: "apply_configuration", Priority: map[node.Framework]int{"clean": 0},
			Args: map[string]node.StepArg{"settings": {Required: true, Description: "A list"}}},
	}
	for _, c := range []struct {
		entry string
		fw    node.Framework
		want  string
	}{
		{"deploy.erase_devices_express:95", node.CleanSteps, "map[deploy.erase_devices_express:95] <nil>"},
		{" management.clear_job_queue:0", node.VerifySteps, "map[management.clear_job_queue:0] <nil>"},
		{"management.reset_bios_to_default:234", node.CleanSteps, "234] <nil>"}, // of a site's ramdisk
		{"bios.apply_configuration:0", node.CleanSteps, "0] <nil>"},
		{"bios.apply_configuration:1", node.CleanSteps, "needs the argument settings"},
		{"management.clear_job_queu:1", node.CleanSteps, "did you mean management.clear_job_queue?"},
		{"deploy.anything:1", node.VerifySteps, "is no verify step of any hardware type"},
		{"power.reboot:1", node.CleanSteps, "is only done when it is asked for"},
		{"erase_devices:1", node.CleanSteps, "expected INTERFACE.STEP:PRIORITY"},
		{"disk.erase_devices:1", node.CleanSteps, "expected INTERFACE.STEP:PRIORITY"},
		{"deploy.erase.devices:1", node.CleanSteps, "expected INTERFACE.STEP:PRIORITY"},
		{"deploy.erase_devices", node.CleanSteps, `the priority is ""`},
		{"deploy.erase_devices:-1", node.CleanSteps, `the priority is "-1"`},
		{"deploy.erase_devices:99999999999", node.CleanSteps, `the priority is "99999999999"`},
		{"deploy.a:1;deploy.a:1", node.CleanSteps, "has a priority already"},
	} {
		p, err := ParsePriorities(strings.Split(c.entry, ";"))
		if err == nil {
			err = p.Check(c.fw, offers)
		}
		if got := fmt.Sprint(p, err); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.entry, got, c.want)
		}
	}
}
