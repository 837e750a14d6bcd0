package erase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestSoManyAtATime: disks are erased beside each other, but no more than said.
func TestSoManyAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		slow := []Method{{Name: "slow", can: canOverwrite, erase: func(_ context.Context, j job) error {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Minute)
			now.Add(-1)
			return j.ZeroOut(0, j.Size())
		}}}
		o := usual(t)
		o.Concurrency = 3
		var facts []Facts
		for i := range 7 {
			facts = append(facts, Facts{Disk: describe(fmt.Sprintf("/dev/vd%c", 'a'+i), "virtio")})
		}
		r := &Run{
			Options: o, Step: "erase_devices", Log: slog.New(slog.DiscardHandler), Progress: func(agentapi.Progress) {},
			Open: func(context.Context, agentapi.Disk) (Drive, func(), error) { return newFake(), func() {}, nil },
		}
		began := time.Now()
		for _, d := range r.Disks(t.Context(), PlanOf(slow, facts, o)) {
			if d.Method != "slow" || d.DurationMS != time.Minute.Milliseconds() {
				t.Errorf("%+v", d)
			}
		}
		if most.Load() != 3 || time.Since(began) != 3*time.Minute {
			t.Errorf("%d at a time, %s in all", most.Load(), time.Since(began))
		}
	})
}

// TestAbortedBeforeItsTurn: a disk that never had its turn is not reported as erased.
func TestAbortedBeforeItsTurn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &Run{Options: usual(t), Log: slog.New(slog.DiscardHandler), Progress: func(agentapi.Progress) {},
		Open: func(context.Context, agentapi.Disk) (Drive, func(), error) {
			t.Error("a disk was opened after the abort")
			return newFake(), func() {}, nil
		}}
	d := r.Disks(ctx, Plan([]Facts{{Disk: describe("/dev/vda", "virtio")}}, usual(t)))[0]
	if d.Method != "" || d.Error == "" {
		t.Errorf("%+v", d)
	}
}

// TestOtherwiseFindsTheTable: canaries lie where the partition table was, so Otherwise has its turn before them.
func TestOtherwiseFindsTheTable(t *testing.T) {
	table := []byte("old data ") // as newFake has it everywhere
	for name, c := range map[string]struct {
		fails, wipes error
		erased, bad  bool
	}{
		"the drive fails":       {fails: errors.New("broken")},
		"the drive does it":     {erased: true},
		"neither does":          {fails: errors.New("broken"), wipes: errors.New("unreadable"), bad: true},
		"only the drive can do": {wipes: errors.New("unreadable"), erased: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFake()
			d.oacs, d.fails = 2, c.fails
			seen, calls := false, 0
			r := &Run{
				Options: usual(t), Log: slog.New(slog.DiscardHandler), Progress: func(agentapi.Progress) {},
				Open: func(context.Context, agentapi.Disk) (Drive, func(), error) { return d, func() {}, nil },
				Otherwise: func(_ context.Context, _ string, d Drive) (string, error) {
					b := make([]byte, len(table))
					_, err := d.ReadAt(b, 0)
					seen, calls = seen || bytes.Equal(b, table), calls+1
					if calls > 1 {
						return "wiped", err // nothing is left that could be unreadable
					}
					return "wiped", errors.Join(err, c.wipes)
				},
			}
			f := Facts{Disk: describe("/dev/nvme0n1", "nvme"),
				nvme: &nvmeFacts{nsid: 1, namespaces: 1, controller: nvmeController{format: true}}}
			out := r.Disks(t.Context(), Express([]Facts{f}, usual(t)))[0]
			if !seen {
				t.Error("the table was gone before it was looked for")
			}
			if (out.Method != "") != c.erased || (out.Error != "") != c.bad || (out.Skipped != "") != (!c.erased && !c.bad) {
				t.Errorf("%+v", out)
			}
		})
	}
}
