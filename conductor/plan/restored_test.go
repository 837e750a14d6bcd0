package plan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestAfterRestore: findings that could lose data are dangerous; mere differences are listed; nothing else is.
func TestAfterRestore(t *testing.T) {
	busy := &node.Run{Activity: "clean"}
	for _, c := range []struct {
		name         string
		n            node.Node
		effect       string
		now          node.PowerState
		failure      string
		want, danger string
	}{
		{"at rest, as it was", node.Node{ProvisionState: node.Active, PowerState: node.PowerOn}, "", node.PowerOn, "", "",
			""},
		{"at rest, not read yet", node.Node{ProvisionState: node.Active, PowerState: node.PowerOn}, "", "", "", "", ""},
		{"cleaning", node.Node{ProvisionState: node.CleanWait, PowerState: node.PowerOn, Run: busy}, "", node.PowerOn, "",
			"disks are erased", "disks are erased"},
		{"deploying", node.Node{ProvisionState: node.Deploying, Run: busy}, "agent.execute", "", "",
			"root disk is overwritten", "root disk is overwritten"},
		{"verifying", node.Node{ProvisionState: node.Verifying, Run: &node.Run{}}, "power.validate", "", "",
			"continues its activity in state verifying", ""},
		{"a power change", node.Node{ProvisionState: node.Active, TargetPowerState: node.PowerOff, Chore: "power.set"},
			"power.set", "", "", "continues with power.set, for power off", "power.set"},
		{"available, and on", node.Node{ProvisionState: node.Available, PowerState: node.PowerOff}, "", node.PowerOn, "",
			"may have been deployed since", "may have been deployed since"},
		{"active, and off", node.Node{ProvisionState: node.Active, PowerState: node.PowerOn}, "", node.PowerOff, "",
			"may have been undeployed since", ""},
		{"a silent BMC", node.Node{ProvisionState: node.Active, PowerState: node.PowerOn}, "", "", "timed out",
			"does not report its power: timed out", ""},
	} {
		var said, danger []string
		for _, f := range AfterRestore(c.n, c.effect, c.now, c.failure) {
			said = append(said, f.Text)
			if f.Dangerous {
				danger = append(danger, f.Text)
			}
		}
		if (c.want == "") != (len(said) == 0) || !strings.Contains(strings.Join(said, "; "), c.want) {
			t.Errorf("%s: %q, expected %q", c.name, said, c.want)
		}
		if (c.danger == "") != (len(danger) == 0) || !strings.Contains(strings.Join(danger, "; "), c.danger) {
			t.Errorf("%s: dangerous are %q, expected %q", c.name, danger, c.danger)
		}
	}
}

// TestAbandoned: in every state in which a node is at work, its run fails, its effect goes, and none comes.
func TestAbandoned(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	pending := &node.Effect{ID: 7, Name: "agent.poll"}
	for state, activity := range map[node.State]string{
		node.Cleaning: "clean", node.CleanWait: "clean", node.Deploying: "deploy", node.DeployWait: "deploy",
		node.Inspecting: "inspect", node.InspectWait: "inspect", node.Rescuing: "rescue", node.RescueWait: "rescue",
		node.Unrescuing: "unrescue", node.Servicing: "service", node.ServiceWait: "service", node.Verifying: "verify",
		node.Adopting: "adopt",
	} {
		n := node.Node{ProvisionState: state, Run: &node.Run{Activity: activity, Generation: 1},
			Agent: node.Agent{URL: "https://10.0.0.100:9999"}, Deadline: now}
		change, err := Decide(n, Facts{EffectPending: true, LogsMissing: true, Settings: DefaultSettings()},
			Abandoned{Pending: pending, Reason: "restored"}, now)
		if err != nil {
			t.Errorf("%s: %v", state, err)
			continue
		}
		if len(change.Effects) > 0 || change.Finish != pending || change.Save.Run != nil || !change.Save.Deadline.IsZero() ||
			change.Save.ProvisionState.Class() == node.Working || change.Save.ProvisionState.Class() == node.Waiting {
			t.Errorf("%s becomes %s with run %v, effects %v, finished %v", state, change.Save.ProvisionState, change.Save.Run,
				change.Effects, change.Finish)
		}
	}
	var refusal *node.Refusal
	if _, err := Decide(node.Node{ProvisionState: node.Active}, Facts{}, Abandoned{}, now); !errors.As(err, &refusal) {
		t.Errorf("a node at rest: %v", err)
	}
}
