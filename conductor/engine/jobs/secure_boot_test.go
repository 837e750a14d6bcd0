package jobs_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestSecureBootIsRefused: if the BMC reports secure boot, the machine is not turned on into a ramdisk that it would
// not start. The conductor does not wait for it.
func TestSecureBootIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := enginetest.NewAble(t)
		a.Start()
		defer a.Close()
		id := a.Ask(a.Create("redfish").UUID, node.Manage, node.Manageable).UUID
		if err := a.SetSecureBoot(a.Ctx, node.Node{}, true); err != nil { // by hand, at the machine
			t.Fatal(err)
		}
		since := time.Now()
		if err := a.E.Provision(a.Ctx, id, plan.Request{Verb: node.Provide}); err != nil {
			t.Fatal(err)
		}
		n := a.Settled(id)
		if n.ProvisionState != node.CleanFailed || !strings.Contains(n.LastError, "secure boot is on") ||
			!strings.Contains(n.LastError, "/states/secure_boot") {
			t.Errorf("%s: %s", n.ProvisionState, n.LastError)
		}
		if lasted := time.Since(since); lasted > time.Minute {
			t.Errorf("told after %s", lasted)
		}
		if err := a.E.ChangeSecureBoot(a.Ctx, id, true); err != nil { // which has it read
			t.Fatal(err)
		}
		a.Settled(id)
		if valid, err := a.E.Validate(a.Ctx, id); err != nil || valid["boot"] == nil ||
			!strings.Contains(valid["boot"].Error(), "secure boot is on") {
			t.Errorf("validated as %v, %v", valid["boot"], err)
		}
	})
}

// TestSecureBootWanted: an instance that asks for secure boot is refused at once.
func TestSecureBootWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		id := deployable(w, "http://images/os.raw")
		divided(w, id, map[string]any{"capabilities": map[string]any{"secure_boot": "true"}})
		err := w.E.Provision(w.Ctx, id, plan.Request{Verb: node.Deploy})
		if err == nil || !strings.Contains(err.Error(), "capability secure_boot is true") {
			t.Errorf("deploy: %v", err)
		}
	})
}
