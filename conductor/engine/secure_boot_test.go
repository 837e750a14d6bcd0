package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestSecureBootIsRefused: if the BMC reports secure boot, the machine is not turned on into a ramdisk that it would
// not start. The conductor does not wait for it.
func TestSecureBootIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAble(t)
		a.start()
		defer a.close()
		id := a.ask(a.create("redfish").UUID, node.Manage, node.Manageable).UUID
		if err := a.SetSecureBoot(a.ctx, node.Node{}, true); err != nil { // by hand, at the machine
			t.Fatal(err)
		}
		since := time.Now()
		if err := a.e.Provision(a.ctx, id, plan.Request{Verb: node.Provide}); err != nil {
			t.Fatal(err)
		}
		n := a.settled(id)
		if n.ProvisionState != node.CleanFailed || !strings.Contains(n.LastError, "secure boot is on") ||
			!strings.Contains(n.LastError, "/states/secure_boot") {
			t.Errorf("%s: %s", n.ProvisionState, n.LastError)
		}
		if lasted := time.Since(since); lasted > time.Minute {
			t.Errorf("told after %s", lasted)
		}
		if err := a.e.ChangeSecureBoot(a.ctx, id, true); err != nil { // which has it read
			t.Fatal(err)
		}
		a.settled(id)
		if valid, err := a.e.Validate(a.ctx, id); err != nil || valid["boot"] == nil ||
			!strings.Contains(valid["boot"].Error(), "secure boot is on") {
			t.Errorf("validated as %v, %v", valid["boot"], err)
		}
	})
}

// TestSecureBootWanted: an instance that asks for secure boot is refused at once.
func TestSecureBootWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.start()
		defer w.close()
		id := deployable(w, "http://images/os.raw")
		divided(w, id, map[string]any{"capabilities": map[string]any{"secure_boot": "true"}})
		err := w.e.Provision(w.ctx, id, plan.Request{Verb: node.Deploy})
		if err == nil || !strings.Contains(err.Error(), "capability secure_boot is true") {
			t.Errorf("deploy: %v", err)
		}
	})
}
