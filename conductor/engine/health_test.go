package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// ill is boards that report the machine's health.
type ill struct {
	*boards
	health string
}

func (i *ill) Vitals(ctx context.Context, n node.Node) (node.Vitals, error) {
	p, err := i.PowerState(ctx, n)
	i.mu.Lock()
	defer i.mu.Unlock()
	return node.Vitals{Power: p, Health: i.health}, err
}

// Health comes with the verification and with every reading of the power, in
// the same call, and is written when it changes.
func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoards(t)
		i := &ill{boards: b, health: "OK"}
		b.drive = func(core.BMC) core.BMC { return i }
		b.start()
		defer b.close()
		n := b.managed()
		if n.Health != "OK" {
			t.Errorf("health is %q after the verification", n.Health)
		}
		time.Sleep(10 * time.Minute)
		b.wrote(0, "while all is well")
		b.set(func() { i.health = "Critical"; clear(b.reads) })
		time.Sleep(10 * time.Minute)
		b.wrote(1, "after a part has failed")
		if n = b.node(n.UUID); n.Health != "Critical" {
			t.Errorf("health is %q", n.Health)
		}
		if k := b.readings(n.UUID); k < 9 || k > 11 {
			t.Errorf("the BMC was asked %d times in ten minutes, want once a minute", k)
		}
		if diff := cmp.Diff([]string{"WARNING"}, b.monitored(n.UUID)); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
	})
}
