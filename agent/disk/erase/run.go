package erase

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Run is the erasing of a machine's disks.
type Run struct {
	Options Options
	// Open opens a disk of a plan, and checks that its name still leads to it.
	Open     func(ctx context.Context, disk agentapi.Disk) (d Drive, closeDrive func(), err error)
	Progress func(agentapi.Progress) // may be called often
	Step     string                  // it is reported for
	Log      *slog.Logger
	// Otherwise is called when no method of a plan has worked, or it has none; nil: then the disk has failed. It
	// returns a description of its work in place of erasing: the disk is not reported as erased. If there are methods
	// it is also called before them, since it may need data that their canaries overwrite: without the partition table
	// it would miss the contents of partitions.
	Otherwise func(ctx context.Context, device string, d Drive) (did string, err error)
}

// Disks carries the plans out, so many at a time, and reports the result of each. A disk that fails does not keep the
// others from being erased.
func (r *Run) Disks(ctx context.Context, plans []DiskPlan) []agentapi.ErasedDisk {
	m := newMeter(r.Step, plans, r.Progress)
	done := make([]agentapi.ErasedDisk, len(plans))
	slots := make(chan struct{}, r.Options.Concurrency)
	var all sync.WaitGroup
	for i, p := range plans {
		if done[i] = r.begun(p); p.Skipped != "" || p.Refused != "" {
			m.done(p.Device)
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots; m.done(p.Device) }()
			r.disk(ctx, p, m, &done[i])
		})
	}
	all.Wait()
	return done
}

// begun is the report of a disk before its erase begins.
func (r *Run) begun(p DiskPlan) agentapi.ErasedDisk {
	d := p.facts.Disk
	return agentapi.ErasedDisk{
		Device: d.Name, Model: d.Model, Serial: d.Serial, WWN: d.WWN, Size: d.Size,
		Attempts: p.failed, Skipped: p.Skipped, Error: p.Refused,
	}
}

// disk erases one disk and fills in the rest of its report.
func (r *Run) disk(ctx context.Context, p DiskPlan, m *meter, out *agentapi.ErasedDisk) {
	began := time.Now()
	at := began.UTC().Truncate(time.Second)
	out.Started = &at
	err := r.methods(ctx, p, m, out)
	out.DurationMS = time.Since(began).Milliseconds()
	if err != nil {
		out.Error = err.Error()
		r.Log.Error("disk not erased", "disk", p.Device, "err", err)
		return
	}
	if out.Method == "" {
		r.Log.Info("disk not erased", "disk", p.Device, "reason", out.Skipped)
		return
	}
	r.Log.Info("disk erased", "disk", p.Device, "method", out.Method, "took", time.Since(began).Round(time.Millisecond),
		"verification", out.Verification)
}

// methods opens the disk and tries one method after the other.
func (r *Run) methods(ctx context.Context, p DiskPlan, m *meter, out *agentapi.ErasedDisk) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("aborted before it began: %w", err)
	}
	d, closeDrive, err := r.Open(ctx, p.facts.Disk)
	if err != nil {
		return err
	}
	defer closeDrive()
	if p.facts.ata != nil && p.facts.ata.locked {
		if err := openATA(d, r.Options); err != nil {
			return err
		}
	}
	var errs, missed []error
	if len(p.methods) > 0 {
		if r.Otherwise != nil {
			if _, err := r.Otherwise(ctx, p.Device, d); err != nil {
				missed = append(missed, fmt.Errorf("before the first method: %w", err))
			}
		}
		w, err := newWatch(ctx, d)
		if err != nil {
			return err
		}
		for _, method := range p.methods {
			j := job{Drive: d, facts: p.facts, options: r.Options,
				progress: func(share float64) { m.set(p.Device, method.Name, share) }}
			v, err := attempt(ctx, method, j, w)
			out.Verification = &v
			if err == nil {
				out.Method, out.Attempts = method.Name, append(out.Attempts, agentapi.EraseAttempt{Method: method.Name})
				return nil
			}
			r.Log.Warn("erase method failed", "disk", p.Device, "method", method.Name, "err", err)
			out.Attempts = append(out.Attempts, agentapi.EraseAttempt{Method: method.Name, Error: err.Error()})
			if errs = append(errs, fmt.Errorf("%s: %w", method.Name, err)); ctx.Err() != nil {
				return errors.Join(errs...)
			}
		}
	}
	if r.Otherwise == nil {
		return errors.Join(errs...)
	}
	did, err := r.Otherwise(ctx, p.Device, d)
	if err == nil && len(missed) == 0 {
		out.Skipped, out.Started, out.Verification = did, nil, nil
		return nil
	}
	return errors.Join(append(append(errs, missed...), err)...)
}

// attempt erases by one method, with canaries on the disk, and trusts only a read of the disk afterwards. See
// docs/decisions/0056-erase-canaries.md.
func attempt(ctx context.Context, m Method, j job, w *watch) (agentapi.EraseVerification, error) {
	none := agentapi.EraseVerification{}
	j.progress(0)
	if err := w.plant(ctx); err != nil {
		return none, fmt.Errorf("canaries: %w", err)
	}
	if err := m.erase(ctx, j); err != nil {
		return none, err
	}
	v, err := w.verify(ctx, m.zeroes != nil && m.zeroes(j.facts, j.options))
	if err != nil {
		return v, fmt.Errorf("verify: %w", err)
	}
	return v, nil
}
