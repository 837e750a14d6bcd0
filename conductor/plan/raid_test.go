package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestRootOnArray: the boot loader of an image of a whole disk is pointed at its
// root only on software RAID, there already or yet to be made.
func TestRootOnArray(t *testing.T) {
	raid := func(controller string) map[string]any {
		return map[string]any{
			"logical_disks": []any{map[string]any{"controller": "other"}, map[string]any{"controller": controller}},
		}
	}
	said := map[string]any{"image_source": "http://images/os.raw", "image_rootfs_uuid": "r-1"}
	for _, tc := range []struct {
		name string
		n    node.Node
		want any
	}{
		{"no RAID", node.Node{InstanceInfo: said}, nil},
		{"of a controller", node.Node{InstanceInfo: said, RAIDConfig: raid("RAID.1")}, nil},
		{"there", node.Node{InstanceInfo: said, RAIDConfig: raid("software")}, "r-1"},
		{"to be made", node.Node{InstanceInfo: said, TargetRAIDConfig: raid("software")}, "r-1"},
		{"nobody says",
			node.Node{InstanceInfo: map[string]any{"image_source": "http://images/os.raw"}, RAIDConfig: raid("software")}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, s := range writeAndBoot(&decision{n: tc.n}) {
				if got := s.Args["root_uuid"]; s.String() == installBootloader && got != tc.want {
					t.Errorf("root_uuid is %v, want %v", got, tc.want)
				}
			}
		})
	}
}

// TestDeletedVolumes: raid_config loses them, but for those that the operator keeps.
func TestDeletedVolumes(t *testing.T) {
	volume := func(name string) any { return map[string]any{"volume_name": name, "member_disks": []any{"x"}} }
	for name, tc := range map[string]struct{ skip, want []any }{
		"none is kept": {nil, nil},
		"one is kept":  {[]any{map[string]any{"volume_name": "data"}}, []any{volume("data")}},
	} {
		d := &decision{n: node.Node{RAIDConfig: map[string]any{"logical_disks": []any{volume("root"), volume("data")}},
			Properties: map[string]any{"skip_block_devices": tc.skip}}}
		err := d.raidByAgent(node.Step{Interface: "raid", Step: "delete_configuration", InBand: true}, nil)
		got, _ := d.n.RAIDConfig["logical_disks"].([]any)
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil || (d.n.RAIDConfig == nil) != (tc.want == nil) {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}
