package engine_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestReadersAreBounded: for any number of machines, no more than the configured number are read at a time, and one of
// each BMC. Every machine gets its turn.
func TestReadersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoards(t)
		b.readers = 4
		b.start()
		defer b.close()
		var ids []string
		for i := range 30 {
			n := b.ask(b.create("redfish").UUID, node.Manage, node.Manageable)
			ids = append(ids, n.UUID)
			if i < 10 {
				_, err := b.e.UpdateNode(b.ctx, n.UUID, func(n *node.Node) error {
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
		b.set(func() { b.slow, b.most, b.crowd = 9*time.Second, 0, 0; clear(b.reads) })
		time.Sleep(15 * time.Minute)
		b.set(func() {
			if b.most != 4 || b.crowd != 1 {
				t.Errorf("%d readings at a time (want 4), %d of one BMC (want 1)", b.most, b.crowd)
			}
		})
		for _, id := range ids {
			if b.readings(id) == 0 {
				t.Errorf("node %s was never read", id)
			}
		}
	})
}

// Dead BMCs do not take the turns of living ones.
func TestDeadBMCsDoNotStarveOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoards(t)
		b.readers = 4
		b.start()
		defer b.close()
		n := b.managed()
		time.Sleep(2 * time.Minute)
		var turn time.Duration // which part of the minute is the node's
		b.set(func() { at := b.reads[n.UUID][0]; turn = at.Sub(at.Truncate(time.Minute)) })
		dead := map[string]bool{}
		for range 200 {
			dead[b.managed().UUID] = true
		}
		b.set(func() { b.dead = dead })
		time.Sleep(time.Hour) // by now the dead BMCs are known
		b.set(func() { clear(b.reads) })
		time.Sleep(time.Hour)
		if k := b.readings(n.UUID); k < 59 {
			t.Errorf("read %d times in an hour, want once a minute", k)
		}
		b.set(func() {
			for _, at := range b.reads[n.UUID] {
				if late := at.Add(-turn).Sub(at.Add(-turn).Round(time.Minute)); late.Abs() > time.Second {
					t.Errorf("read %s late, at %s", late, at)
				}
			}
		})
		for id := range dead {
			if b.readings(id) == 0 {
				t.Errorf("node %s is not asked any more", id)
			}
		}
	})
}
