package erase

import (
	"context"
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
			Open: func(context.Context, string) (Drive, func(), error) { return newFake(), func() {}, nil },
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

// TestAbortedBeforeItsTurn: a disk whose turn never came is not reported as
// erased.
func TestAbortedBeforeItsTurn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &Run{Options: usual(t), Log: slog.New(slog.DiscardHandler), Progress: func(agentapi.Progress) {}, Open: func(context.Context, string) (Drive, func(), error) {
		t.Error("a disk was opened after the abort")
		return newFake(), func() {}, nil
	}}
	d := r.Disks(ctx, Plan([]Facts{{Disk: describe("/dev/vda", "virtio")}}, usual(t)))[0]
	if d.Method != "" || d.Error == "" {
		t.Errorf("%+v", d)
	}
}
