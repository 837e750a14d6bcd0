package powersync_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestReadersAreBounded: for any number of machines, no more than the configured number are read at a time, and one of
// each BMC. Every machine gets its turn.
func TestReadersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Readers = 4
		b.Start()
		defer b.Close()
		var ids []string
		for i := range 30 {
			n := b.Ask(b.Create("redfish").UUID, node.Manage, node.Manageable)
			ids = append(ids, n.UUID)
			if i < 10 {
				_, err := b.E.UpdateNode(b.Ctx, n.UUID, func(n *node.Node) error {
					n.DriverInfo = map[string]any{"redfish_address": "https://chassis",
						"redfish_system_id": "/redfish/v1/Systems/" + strconv.Itoa(i)}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		time.Sleep(time.Minute)
		b.Set(func() { b.Slow, b.Most, b.Crowd = 9*time.Second, 0, 0; clear(b.Reads) })
		time.Sleep(15 * time.Minute)
		b.Set(func() {
			if b.Most != 4 || b.Crowd != 1 {
				t.Errorf("%d readings at a time (want 4), %d of one BMC (want 1)", b.Most, b.Crowd)
			}
		})
		for _, id := range ids {
			if b.Readings(id) == 0 {
				t.Errorf("node %s was never read", id)
			}
		}
	})
}

// Dead BMCs do not take the turns of living ones.
func TestDeadBMCsDoNotStarveOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Readers = 4
		b.Start()
		defer b.Close()
		n := b.Managed()
		time.Sleep(2 * time.Minute)
		var turn time.Duration // which part of the minute is the node's
		b.Set(func() { at := b.Reads[n.UUID][0]; turn = at.Sub(at.Truncate(time.Minute)) })
		dead := map[string]bool{}
		for range 200 {
			dead[b.Managed().UUID] = true
		}
		b.Set(func() { b.Dead = dead })
		time.Sleep(time.Hour) // by now the dead BMCs are known
		b.Set(func() { clear(b.Reads) })
		time.Sleep(time.Hour)
		if k := b.Readings(n.UUID); k < 59 {
			t.Errorf("read %d times in an hour, want once a minute", k)
		}
		b.Set(func() {
			for _, at := range b.Reads[n.UUID] {
				if late := at.Add(-turn).Sub(at.Add(-turn).Round(time.Minute)); late.Abs() > time.Second {
					t.Errorf("read %s late, at %s", late, at)
				}
			}
		})
		for id := range dead {
			if b.Readings(id) == 0 {
				t.Errorf("node %s is not asked any more", id)
			}
		}
	})
}
