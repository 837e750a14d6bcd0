package plan

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestScriptAsked: only where the ramdisk or its agent is waited for, after the boot's
// word was used, does another boot of the machine mean that nothing will come.
func TestScriptAsked(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	proven := node.Agent{Token: "t", TokenSent: true, WordHash: "h", Caller: "10.0.0.5"}
	called := proven
	called.URL = "https://10.0.0.5:9999"
	boot := node.Step{Interface: "agent", Step: "wait_for_heartbeat"}
	for name, tc := range map[string]struct {
		n    node.Node
		ends string
	}{
		"before the agent has called": {
			node.Node{ProvisionState: node.CleanWait, Agent: proven,
				Run: &node.Run{Activity: "clean", Steps: []node.Step{boot}}}, "used at 10.0.0.5;",
		},
		"a command under way": {node.Node{ProvisionState: node.CleanWait, Agent: called,
			Run: &node.Run{Activity: "clean", Command: "1",
				Steps: []node.Step{{Interface: "deploy", Step: "erase_devices", InBand: true}}}}, "used at https://10.0.0.5:9999;"},
		"the word is not used yet": {
			node.Node{ProvisionState: node.CleanWait, Agent: node.Agent{WordHash: "h"},
				Run: &node.Run{Activity: "clean", Steps: []node.Step{boot}}}, "",
		},
		"at work on it ourselves": {
			node.Node{ProvisionState: node.Cleaning, Agent: called, Run: &node.Run{Activity: "clean", Steps: []node.Step{boot}}},
			"",
		},
		"its BMC updates firmware": {
			node.Node{ProvisionState: node.CleanWait, Agent: called,
				Run: &node.Run{Activity: "clean", Steps: []node.Step{{Interface: "firmware", Step: "update", Driver: true}}}}, "",
		},
		"an operator restarts it": {
			node.Node{ProvisionState: node.DeployWait, Chore: changePower, Agent: called,
				Run: &node.Run{Activity: "deploy", Steps: []node.Step{boot}}}, "",
		},
		"held for its operator": {
			node.Node{ProvisionState: node.CleanHold, Agent: called,
				Run: &node.Run{Activity: "clean", Steps: []node.Step{{Interface: "deploy", Step: "hold"}}}}, "",
		},
		"nothing is done with it":    {node.Node{ProvisionState: node.Available, Agent: called}, ""},
		"in rescue, until told else": {node.Node{ProvisionState: node.Rescue, Agent: called}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Decide(tc.n, Facts{Settings: DefaultSettings()}, ScriptAsked{From: netip.MustParseAddr("10.0.0.5")}, now)
			switch {
			case err != nil || (c != nil) != (tc.ends != ""):
				t.Fatalf("%+v, %v", c, err)
			case c == nil:
				return
			}
			if n := c.Save; n.Run != nil || n.Agent != (node.Agent{}) || n.ProvisionState.Class() != node.Failed ||
				!strings.Contains(n.LastError, tc.ends) {
				t.Errorf("node is %q (%s), agent %+v", n.ProvisionState, n.LastError, n.Agent)
			}
		})
	}
}

// TestRamdiskRefused: a refusal ends the run only where the ramdisk was proven to be the
// machine's, and no other can come.
func TestRamdiskRefused(t *testing.T) {
	n := node.Node{ProvisionState: node.CleanWait, Agent: node.Agent{WordHash: "h"},
		Run: &node.Run{Activity: "clean", Steps: []node.Step{{Interface: "agent", Step: "wait_for_heartbeat"}}}}
	for name, tc := range map[string]struct {
		agent node.Agent
		e     RamdiskRefused
		ends  bool
		tells bool
	}{
		"proven":              {n.Agent, RamdiskRefused{Reason: "old", Proven: true}, true, true},
		"proven, and told of": {n.Agent, RamdiskRefused{Reason: "old", Proven: true, Recorded: true}, true, true},
		"anybody":             {n.Agent, RamdiskRefused{Reason: "old"}, false, true},
		"of no boot of ours":  {node.Agent{}, RamdiskRefused{Reason: "old", Proven: true}, false, true},
		"beside the right ramdisk": {node.Agent{WordHash: "h", Token: "t"}, RamdiskRefused{Reason: "old", Proven: true},
			false, true},
		"again": {node.Agent{}, RamdiskRefused{Reason: "old", Proven: true, Recorded: true}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := n.Clone()
			n.Agent = tc.agent
			c, err := Decide(n, Facts{Settings: DefaultSettings()}, tc.e, time.Unix(0, 0))
			if err != nil || (c != nil) != tc.tells {
				t.Fatalf("%+v, %v", c, err)
			}
			if c != nil && (len(c.History) != 1 || (c.Save.Run == nil) != tc.ends) {
				t.Errorf("node %q, history %+v", c.Save.ProvisionState, c.History)
			}
		})
	}
}
