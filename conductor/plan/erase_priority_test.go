package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestErasePriorities: an automated cleaning uses the operator's priorities of the erase steps instead of the agent's.
// Other frameworks and steps keep theirs.
func TestErasePriorities(t *testing.T) {
	agent := byAgent{"m": {
		{Interface: "deploy", Step: "erase_devices_metadata", Priority: 99},
		{Interface: "deploy", Step: "erase_devices", Priority: 10},
		{Interface: "management", Step: "polish", Priority: 50},
	}}
	for name, c := range map[string]struct {
		fw     node.Framework
		change func(*Settings)
		want   []string
	}{
		"unasked": {node.CleanSteps, func(*Settings) {}, []string{"deploy.erase_devices_metadata", "management.polish"}},
		"all": {node.CleanSteps, func(s *Settings) { s.EraseDevicesPriority = 60 },
			[]string{"deploy.erase_devices_metadata", "deploy.erase_devices", "management.polish"}},
		"all but that": {node.CleanSteps, func(s *Settings) { s.EraseDevicesPriority, s.EraseMetadataPriority = 10, 0 },
			[]string{"management.polish", "deploy.erase_devices"}},
		"deploy": {
			node.DeploySteps, func(*Settings) {},
			[]string{"deploy.erase_devices_metadata", "management.polish", "deploy.erase_devices"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := &decision{f: Facts{Settings: DefaultSettings()}}
			c.change(&d.f.Settings)
			var got []string
			for _, s := range d.automatic(c.fw, agent) {
				got = append(got, s.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if agent["m"][1].Priority != 10 {
		t.Error("the agent's own list was changed")
	}
}
