package follow

import (
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestText: an event is a line with day and zone, sizes as people read them, and nothing that begins another line.
func TestText(t *testing.T) {
	of := &nodeapi.EventNode{Name: "web-1\nFORGED"}
	const at = "2026-11-24T18:02:11.5Z"
	for want, e := range map[string]nodeapi.Event{
		"-           node.created": {At: at, Type: "node.created"},
		`web-1\nFORGED  node.power  power off -> power on (by ada)`: {At: at, Type: "node.power",
			Node: of, User: "ada", Power: &nodeapi.EventPower{From: "power off", To: "power on"}},
		"-           step.progress  deploy.write_image, write: 734.0 MB of 1.1 GB, 68%": {At: at,
			Type: "step.progress", Progress: &nodeapi.EventProgress{Step: "deploy.write_image", Stage: "write",
				Done: 734003200, Total: 1073741824}},
		"-           step.progress  write_image, try 1 of 10 failed": {At: at,
			Type: "step.progress", Progress: &nodeapi.EventProgress{Step: "write_image", Stage: "try 1 of 10 failed"}},
	} {
		want = output.Time(time.Date(2026, 11, 24, 18, 2, 11, 0, time.UTC)) + "  " + want
		if got := Text(e); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
