package engine_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	client "github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestKexec ends deploys by kexec. An agent that cannot do it, or does not leave, costs a
// start of the firmware and fails nothing; the history has the reason.
func TestKexec(t *testing.T) {
	refused := func(_ *machine, res *agentapi.Result) error {
		res.Status, res.Result = agentapi.Failed, nil
		res.Error = agentapi.NewCommandError("CommandExecutionError", "Command execution error",
			"/dev/sda1 has no boot entry")
		return nil
	}
	for name, c := range map[string]struct {
		kexec  func(m *machine, res *agentapi.Result) error
		starts string // of the firmware in the deploy
		want   string
	}{
		"done":    {nil, "0 firmware starts", `started by kexec (uki entry "Lab": a.efi)`},
		"refused": {refused, "1 firmware start", "not by kexec: /dev/sda1 has no boot entry"},
		"unknown": {func(*machine, *agentapi.Result) error { return &client.APIError{Status: http.StatusNotFound} },
			"1 firmware start", "not by kexec: "},
		"stays": {func(m *machine, _ *agentapi.Result) error { m.stays = true; return nil }, "1 firmware start",
			"still answers after 30s"},
		"fails at last": {func(m *machine, res *agentapi.Result) error { m.stays = true; return refused(m, res) },
			"1 firmware start", "no boot entry"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				w.settings.FastTrack, w.settings.Kexec, w.kexecing = true, true, c.kexec
				w.start()
				defer w.close()
				id := w.create("redfish").UUID
				w.ask(id, node.Manage, node.Manageable)
				w.ask(id, node.Provide, node.Available)
				w.ask(id, node.Deploy, node.Active)
				history, err := w.e.History(w.ctx, id)
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
				if m := w.of(id); m.power != node.PowerOn || m.disk != "os.raw" || m.device != "disk" {
					t.Errorf("machine after deploy: %s, disk %q, boots from %q", m.power, m.disk, m.device)
				}
				if n, err := w.e.Node(w.ctx, id); err != nil || n.Agent.URL != "" {
					t.Errorf("after deploy the node's agent is at %q, %v", n.Agent.URL, err)
				}
			})
		})
	}
}
