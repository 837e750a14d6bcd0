package steps

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/rootdevice"
)

// ProbeWait bounds how long steps wait for disks that may still turn up. Zero fields wait for nothing.
type ProbeWait struct {
	// Probing names drivers and controllers that may still bring up disks: loading drivers, starting controllers. Nil
	// for none.
	Probing func() []string
	Limit   time.Duration // of probing: a dying disk keeps its controller busy for minutes
	Missing time.Duration // after probing, for disks that the last inspection saw
	Quiet   time.Duration // without new disks, where no inspection lists the disks
}

// awaitAll waits until probing has ended and all disks are there that the last inspection saw. A step that erases must
// not pass over a disk that is late: it would report success, and the disk would keep its data.
func (m *Machine) awaitAll(ctx context.Context, step string, n agentapi.CommandNode) error {
	inspected, err := m.expected(n)
	if err != nil {
		return err
	}
	if err := m.awaitProbing(ctx, step); err != nil {
		return err
	}
	if len(inspected) == 0 {
		return m.awaitQuiet(ctx)
	}
	missing, err := m.awaitInspected(ctx, step, inspected, m.Probe.Missing)
	if err != nil || len(missing) == 0 {
		return err
	}
	return fmt.Errorf("%d of %d disks that the last inspection saw are missing, and nothing was erased: %s; waited %s "+
		"after all controllers had started. Check the power, the cable and the controller of each. If a disk was taken out "+
		"on purpose, inspect the node again: ferrite node manage %s, then ferrite node inspect %[5]s", len(missing),
		len(inspected), describe(missing), m.Probe.Missing, n.UUID)
}

// expected are the disks that the last inspection saw, without those that the operator keeps for something else.
func (m *Machine) expected(n agentapi.CommandNode) (disks []agentapi.Disk, err error) {
	inspected, err := agentapi.ReadInspectedDisks(n.DriverInternalInfo)
	if err != nil {
		return nil, err
	}
	skip, _, err := rootdevice.SkipFrom(n.Properties)
	if err != nil {
		return nil, err
	}
	for _, d := range inspected {
		by, err := rootdevice.KeptBy(skip, d)
		if err != nil {
			return nil, err
		}
		if by == nil && d.IsMachinePart() {
			disks = append(disks, d)
		}
	}
	return disks, nil
}

// awaitProbing waits until nothing may bring up disks any more.
func (m *Machine) awaitProbing(ctx context.Context, step string) error {
	if m.Probe.Probing == nil {
		return nil
	}
	deadline := time.Now().Add(m.Probe.Limit)
	told := ""
	for {
		pending := m.Probe.Probing()
		if len(pending) == 0 {
			return nil
		}
		names := strings.Join(pending, ", ")
		if time.Now().After(deadline) {
			return fmt.Errorf("disks may still turn up, and nothing was changed: not ready after %s: %s; look at the "+
				"machine's log for the disk or controller that does not answer, remove or repair it, and begin again",
				m.Probe.Limit, names)
		}
		if names != told {
			told = names
			m.Log.Info("disks may still turn up", "step", step, "waiting_for", names, "limit", m.Probe.Limit)
			m.Progress(agentapi.Progress{Step: step, Stage: shortened("waiting for " + names)})
		}
		if !sys.Sleep(ctx, diskPoll) {
			return fmt.Errorf("wait for %s: %w", names, ctx.Err())
		}
	}
}

// AwaitProbing waits until nothing may bring up disks any more, before an inspection lists them. When that takes too
// long, it continues with the present ones.
func (m *Machine) AwaitProbing(ctx context.Context) {
	if err := m.awaitProbing(ctx, "inspect"); err != nil {
		m.Log.Warn("the inspection may miss disks", "err", err)
	}
}

// awaitInspected waits for the disks that the last inspection saw, and returns those that did not come.
func (m *Machine) awaitInspected(
	ctx context.Context, step string, inspected []agentapi.Disk, patience time.Duration,
) (missing []agentapi.Disk, err error) {
	deadline := time.Now().Add(patience)
	for first := true; ; first = false {
		now, _ := m.Disks()
		missing = agentapi.MissingDisks(inspected, now)
		if len(missing) == 0 || !time.Now().Before(deadline) {
			return missing, nil
		}
		if first {
			m.Log.Info("disks that the last inspection saw are not there yet", "step", step, "disks", describe(missing),
				"patience", patience)
			m.Progress(agentapi.Progress{Step: step, Stage: shortened("waiting for " + describe(missing))})
		}
		if !sys.Sleep(ctx, diskPoll) {
			return missing, fmt.Errorf("wait for %s: %w", describe(missing), ctx.Err())
		}
	}
}

// awaitQuiet waits until no disk has turned up for a while. The disks of a machine that was never inspected are not
// known.
func (m *Machine) awaitQuiet(ctx context.Context) error {
	if m.Probe.Quiet == 0 {
		return nil
	}
	was, _ := m.Disks()
	deadline := time.Now().Add(m.Probe.Limit)
	for since := time.Now(); time.Since(since) < m.Probe.Quiet; {
		if !sys.Sleep(ctx, diskPoll) {
			return fmt.Errorf("wait for disks: %w", ctx.Err())
		}
		now, _ := m.Disks()
		if !reflect.DeepEqual(now, was) && time.Now().Before(deadline) {
			was, since = now, time.Now()
		}
	}
	return nil
}

// awaitToInstall waits as awaitAll does, before a disk is chosen: the right one may be late. A disk that does not come
// does not keep another from being installed onto.
func (m *Machine) awaitToInstall(ctx context.Context, n agentapi.CommandNode) {
	const step = "write_image"
	if err := m.awaitProbing(ctx, step); err != nil {
		m.Log.Warn("a disk is chosen although others may still turn up", "err", err)
		return
	}
	inspected, err := m.expected(n)
	if err != nil {
		m.Log.Warn("the disks of the last inspection cannot be read", "err", err)
		return
	}
	missing, err := m.awaitInspected(ctx, step, inspected, m.Wait.patience())
	if err == nil && len(missing) > 0 {
		m.Log.Warn("a disk is chosen although disks that the last inspection saw are missing", "disks", describe(missing))
	}
}

// describe names disks by the properties that people know.
func describe(disks []agentapi.Disk) string {
	const most = 20
	var each []string
	for _, d := range disks[:min(len(disks), most)] {
		each = append(each, fmt.Sprintf("%s (%s, serial %q, %d bytes)", d.Name, strings.TrimSpace(d.Vendor+" "+d.Model),
			d.Serial, d.Size))
	}
	if more := len(disks) - most; more > 0 {
		each = append(each, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(each, "; ")
}
