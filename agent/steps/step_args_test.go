package steps

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestStepArguments: each argument that a step lists is read, which a value of the wrong kind shows, and any other
// is refused before anything is done. write_image has arguments of its own.
func TestStepArguments(t *testing.T) {
	b := newBench(t, "/dev/vda")
	for _, s := range Registry() {
		if s.Name == "write_image" {
			continue
		}
		infos := map[string]any{"nonsense": nil}
		if s.ArgsInfo != nil {
			for name := range s.ArgsInfo() {
				infos[name] = nil
			}
		}
		for name := range infos {
			args := map[string]any{name: 4711.0}
			if name == "delete_existing" { // it is checked after the argument that it belongs to
				args["raid_config"] = map[string]any{"logical_disks": []any{map[string]any{"size_gb": "MAX",
					"raid_level": "1", "controller": "software"}}}
			}
			_, err := Execute(t.Context(), b.Machine, s.Kind, Request{Step: agentapi.Step{Interface: s.Interface,
				Step: s.Name, Args: args}})
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s step %s.%s with %s=4711: %v", s.Kind, s.Interface, s.Name, name, err)
			}
		}
	}
}
