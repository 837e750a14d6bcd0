package jobs_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	client "github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestKexec ends deploys by kexec. An agent that cannot do it, or does not leave, costs a
// start of the firmware and fails nothing; the history has the reason.
func TestKexec(t *testing.T) {
	refused := func(_ *enginetest.Machine, res *agentapi.Result) error {
		res.Status, res.Result = agentapi.Failed, nil
		res.Error = agentapi.NewCommandError("CommandExecutionError", "Command execution error",
			"/dev/sda1 has no boot entry")
		return nil
	}
	for name, c := range map[string]struct {
		kexec  func(m *enginetest.Machine, res *agentapi.Result) error
		starts string // of the firmware in the deploy
		want   string
	}{
		"done":    {nil, "0 firmware starts", `started by kexec (uki entry "Lab": a.efi)`},
		"refused": {refused, "1 firmware start", "not by kexec: /dev/sda1 has no boot entry"},
		"unknown": {func(*enginetest.Machine, *agentapi.Result) error {
			return &client.APIError{Status: http.StatusNotFound}
		},
			"1 firmware start", "not by kexec: "},
		"stays": {func(m *enginetest.Machine, _ *agentapi.Result) error { m.Stays = true; return nil }, "1 firmware start",
			"still answers after 30s"},
		"fails at last": {func(m *enginetest.Machine, res *agentapi.Result) error { m.Stays = true; return refused(m, res) },
			"1 firmware start", "no boot entry"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := enginetest.New(t, 1)
				w.Settings.FastTrack, w.Settings.Kexec, w.Kexecing = true, true, c.kexec
				w.Start()
				defer w.Close()
				id := w.Create("redfish").UUID
				w.Ask(id, node.Manage, node.Manageable)
				w.Ask(id, node.Provide, node.Available)
				w.Ask(id, node.Deploy, node.Active)
				history, err := w.E.History(w.Ctx, id)
				if err != nil {
					t.Fatal(err)
				}
				var lines []string
				for _, h := range history {
					lines = append(lines, h.Event)
				}
				has := func(parts ...string) bool {
					return slices.ContainsFunc(lines, func(line string) bool {
						return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(line, p) })
					})
				}
				if !has(c.want) || !has("deploy done", c.starts) {
					t.Errorf("the history is %q, want lines with %q and %q", lines, c.want, c.starts)
				}
				if m := w.Machine(id); m.Power != node.PowerOn || m.Disk != "os.raw" || m.Device != "disk" {
					t.Errorf("machine after deploy: %s, disk %q, boots from %q", m.Power, m.Disk, m.Device)
				}
				if n, err := w.E.Node(w.Ctx, id); err != nil || n.Agent.URL != "" {
					t.Errorf("after deploy the node's agent is at %q, %v", n.Agent.URL, err)
				}
			})
		})
	}
}
