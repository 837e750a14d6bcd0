package powersync_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// ill is boards that report the machine's health.
type ill struct {
	*enginetest.Boards
	health string
}

func (i *ill) Vitals(ctx context.Context, n node.Node) (node.Vitals, error) {
	p, err := i.PowerState(ctx, n)
	i.Mu.Lock()
	defer i.Mu.Unlock()
	return node.Vitals{Power: p, Health: i.health}, err
}

// Health comes with the verification and with every reading of the power, in
// the same call, and is written when it changes.
func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		i := &ill{Boards: b, health: "OK"}
		b.Drive = func(core.BMC) core.BMC { return i }
		b.Start()
		defer b.Close()
		n := b.Managed()
		if n.Health != "OK" {
			t.Errorf("health is %q after the verification", n.Health)
		}
		time.Sleep(10 * time.Minute)
		b.Wrote(0, "while all is well")
		b.Set(func() { i.health = "Critical"; clear(b.Reads) })
		time.Sleep(10 * time.Minute)
		b.Wrote(1, "after a part has failed")
		if n = b.Node(n.UUID); n.Health != "Critical" {
			t.Errorf("health is %q", n.Health)
		}
		if k := b.Readings(n.UUID); k < 9 || k > 11 {
			t.Errorf("the BMC was asked %d times in ten minutes, want once a minute", k)
		}
		if diff := cmp.Diff([]string{"WARNING"}, b.Monitored(n.UUID)); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
	})
}
