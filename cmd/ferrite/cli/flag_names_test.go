package cli

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestFlagNames: an error of the API about a field is about the flag that sets it, where the command has that flag.
func TestFlagNames(t *testing.T) {
	root := New("1")
	for _, tc := range []struct{ command, api, want string }{
		{"deploy", "set instance_info/image_checksum, or instance_info/image_os_hash_algo and " +
			"instance_info/image_os_hash_value", "set --checksum"},
		{"deploy", "instance_info/image_source: no such image", "--image: no such image"},
		{"set", "instance_info/image_source.", "--instance-info image_source."},
		{"set", "driver_info/redfish_address of node m1 is missing", "--driver-info redfish_address of node m1 is missing"},
		{"create", "properties/capabilities is a list", "--property capabilities is a list"},
		{"manage", "driver_info/redfish_address is missing", "driver_info/redfish_address is missing"},
		{"deploy", "http://images/instance_info/image_source", "http://images/instance_info/image_source"},
		{"deploy", "instance_info/image_mirrors/0, instance_info/image_source-2", "instance_info/image_mirrors/0, " +
			"instance_info/image_source-2"},
	} {
		cmd, _, err := root.Find([]string{"node", tc.command})
		if err != nil {
			t.Fatal(err)
		}
		if got := flagNames(cmd, tc.api); got != tc.want {
			t.Errorf("node %s, %q:\ngot  %s\nwant %s", tc.command, tc.api, got, tc.want)
		}
	}
}

// TestLabelsHaveFlags: the flags of the table of labels are flags of the commands that set the fields.
func TestLabelsHaveFlags(t *testing.T) {
	root := New("1")
	for _, l := range nodeapi.NodeLabels() {
		command := map[bool]string{true: "deploy", false: "set"}[strings.Contains(l.Path, "/")]
		cmd, _, err := root.Find([]string{"node", command})
		if err != nil {
			t.Fatal(err)
		}
		if l.Flag != "" && cmd.Flags().Lookup(l.Flag) == nil {
			t.Errorf("%s: node %s has no flag --%s", l.Path, command, l.Flag)
		}
	}
}
