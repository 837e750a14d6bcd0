package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/agent/disk/erase"
	"github.com/ferrite-metal/ferrite/agent/inventory"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// dryRun is the argument of erase_devices that makes it report the plan and do
// nothing.
const dryRun = "dry_run"

func dryRunArg() map[string]any {
	return map[string]any{dryRun: map[string]any{
		"description": "Whether to only answer the plan: which disk would be erased by which methods, " +
			"and why not by others. Default is false.",
		"required": false,
	}}
}

// eraseDevices erases all disks, each by the best method it has, and answers
// an agentapi.EraseReport, beside the error too when a disk could not be; with
// dry_run the plan, a list of agentapi.ErasePlan.
func eraseDevices(ctx context.Context, m *Machine, r Request) (any, error) {
	dry, given := r.Step.Args[dryRun]
	only, ok := dry.(bool)
	if given && dry != nil && !ok {
		return nil, invalidStep("%s: expected true or false, found %v", dryRun, dry)
	}
	return m.erase(ctx, r, nil, only)
}

// eraseExpress erases NVMe drives as eraseDevices does. Of disks that have
// nothing as quick, and those that fail at it, the metadata are wiped.
func eraseExpress(ctx context.Context, m *Machine, r Request) (any, error) {
	wipe := func(ctx context.Context, device string, d erase.Drive) (string, error) {
		report, err := disk.WipeMetadata(ctx, d)
		if err != nil {
			return "", err
		}
		m.Log.Info("disk metadata erased", "disk", device, "found", report.Found, "partitions", report.Partitions)
		return "only its metadata were wiped: it has no erase that is over at once, or that failed", nil
	}
	return m.erase(ctx, r, wipe, false)
}

// erasers are the steps that erase disks, and how each plans.
func erasers() map[string]func([]erase.Facts, erase.Options) []erase.DiskPlan {
	return map[string]func([]erase.Facts, erase.Options) []erase.DiskPlan{
		"erase_devices":         erase.Plan,
		"erase_devices_express": erase.Express,
	}
}

// listPatience is how long a list of steps may wait for disks: the conductor waits
// for it for a minute (Ironic's agent.command_timeout).
const listPatience = 30 * time.Second

// abortable reports whether a step can be aborted on this machine. Firmware erases
// cannot: nothing stops them, and after a power cycle the drive goes on or stays
// locked. The operator then learns that the step ends first.
func (m *Machine) abortable(ctx context.Context, n agentapi.CommandNode) func(step string) bool {
	facts := sync.OnceValues(func() ([]erase.Facts, error) {
		ctx, cancel := context.WithTimeout(ctx, listPatience)
		defer cancel()
		return m.eraseFacts(ctx, n)
	})
	return func(step string) bool {
		planned, erases := erasers()[step]
		o, err := erase.OptionsFrom(n.DriverInternalInfo)
		if !erases || err != nil {
			return true // with wrong options it refuses to begin
		}
		f, err := facts()
		if err != nil {
			m.Log.Warn("it is not known how disks would be erased: the step is not abortable", "step", step, "err", err)
			return false
		}
		return !slices.ContainsFunc(planned(f, o), erase.DiskPlan.GoesOn)
	}
}

// erase makes the plan, reports it, and carries it out.
func (m *Machine) erase(
	ctx context.Context, r Request, otherwise func(context.Context, string, erase.Drive) (string, error), only bool,
) (any, error) {
	o, err := erase.OptionsFrom(r.Node.DriverInternalInfo)
	if err != nil {
		return nil, eraseError(err)
	}
	if err := m.awaitAll(ctx, r.Step.Step, r.Node); err != nil {
		return nil, eraseError(err)
	}
	facts, err := m.eraseFacts(ctx, r.Node)
	if err != nil {
		return nil, eraseError(err)
	}
	plans := erasers()[r.Step.Step](facts, o)
	var summaries []string
	for _, p := range plans {
		m.Log.Info("erase plan", "disk", p.Device, "model", p.Model, "serial", p.Serial, "size", p.Size, "plan", p.String())
		summaries = append(summaries, fmt.Sprintf("%s: %s", p.Device, p))
	}
	m.Progress(agentapi.Progress{Step: r.Step.Step, Stage: shortened("plan: " + strings.Join(summaries, "; "))})
	if only {
		return erase.Wire(plans), nil
	}
	m.setWritten(nil)
	report := agentapi.EraseReport{Version: agentapi.EraseReportVersion, NodeUUID: r.Node.UUID, Machine: m.identity(),
		Started: second()}
	run := erase.Run{Options: o, Open: m.openToErase, Progress: m.Progress, Step: r.Step.Step, Log: m.Log,
		Otherwise: otherwise}
	report.Disks = run.Disks(ctx, plans)
	report.Finished = second()
	m.logReport(report)
	if failed := report.Failed(); len(failed) > 0 {
		return report, eraseFailure(failed, len(plans))
	}
	return report, nil
}

// logReport writes the report to the log, a line for each disk, for the operator of a
// failed step: Ironic keeps only the error.
func (m *Machine) logReport(r agentapi.EraseReport) {
	for _, d := range r.Disks {
		b, err := json.Marshal(d)
		if err != nil {
			m.Log.Error("the erase report cannot be sent", "disk", d.Device, "err", err)
			continue
		}
		m.Log.Info("erase report", "disk", string(b))
	}
}

// ErasePlan is the plan of erase_devices for inspection data. Nothing is written.
func (m *Machine) ErasePlan(ctx context.Context, n agentapi.CommandNode) ([]agentapi.ErasePlan, error) {
	o, err := erase.OptionsFrom(n.DriverInternalInfo)
	if err != nil {
		return nil, err
	}
	facts, err := m.eraseFacts(ctx, n)
	return erase.Wire(erase.Plan(facts, o)), err
}

// eraseFacts asks all disks for their capabilities. A disk that does not answer in
// time has none that are known. Disks that the inventory leaves out are listed too,
// unless they are not hardware, and
// RAID controllers that hide physical disks.
func (m *Machine) eraseFacts(ctx context.Context, n agentapi.CommandNode) ([]erase.Facts, error) {
	disks, skipped, err := m.freeDisks(ctx, n)
	if err != nil {
		return nil, err
	}
	facts := []erase.Facts{}
	for _, a := range askDisks(ctx, disks, m.factsOf) {
		if a.err != nil {
			a.value = erase.Unknown(a.disk, a.err)
		}
		facts = append(facts, a.value)
	}
	all, _ := m.Disks()
	for _, s := range skipped {
		if s.Reason == agentapi.NotHardware {
			continue
		}
		d := agentapi.Disk{Name: s.Name}
		if i := slices.IndexFunc(all, func(d agentapi.Disk) bool { return d.Name == s.Name }); i >= 0 {
			d = all[i]
		}
		facts = append(facts, erase.Skipped(d, s.Reason))
	}
	for _, h := range inventory.HiddenDisks(m.Root) {
		facts = append(facts, erase.Skipped(agentapi.Disk{Name: h.Name}, h.Reason))
	}
	return facts, nil
}

// factsOf asks one disk. A read-only one cannot be opened for writing, and
// needs no asking.
func (m *Machine) factsOf(ctx context.Context, d agentapi.Disk) (erase.Facts, error) {
	f := erase.Marked(m.Root, d)
	if f.ReadOnly {
		return f, nil
	}
	dev, err := m.Open(ctx, d.Name)
	if err != nil {
		return f, err
	}
	defer dev.Close() //nolint:errcheck // only read from
	return f.Probe(dev)
}

// openToErase opens a disk. When it is closed, the kernel looks for partitions again.
// Its turn may come hours after the plan was made, and a disk inserted since may have
// the name of a removed one.
func (m *Machine) openToErase(ctx context.Context, d agentapi.Disk) (erase.Drive, func(), error) {
	dev, err := m.Open(ctx, d.Name)
	if err != nil {
		return nil, nil, err
	}
	all, _ := m.Disks()
	same := func(now agentapi.Disk) bool {
		return now.Name == d.Name && now.Serial == d.Serial && now.WWN == d.WWN && now.Model == d.Model && now.Size == d.Size
	}
	if !slices.ContainsFunc(all, same) {
		return nil, nil, errors.Join(fmt.Errorf("%s is no longer the disk with serial %q and %d bytes that the plan was "+
			"made for; begin anew", d.Name, d.Serial, d.Size), dev.Close())
	}
	return dev, func() {
		if err := dev.RereadPartitions(ctx); err != nil {
			m.Log.Warn("the kernel may show partitions that are gone", "err", err)
		}
		dev.Close() //nolint:errcheck // flushed before; closing shows no other error
	}, nil
}

// identity is which machine this is, by DMI.
func (m *Machine) identity() agentapi.EraseMachine {
	v := inventory.SystemVendor(m.Root)
	return agentapi.EraseMachine{Manufacturer: v.Manufacturer, Product: v.ProductName, Serial: v.SerialNumber}
}

// second is now as reports have it: RFC 3339 in whole seconds of UTC.
func second() time.Time { return time.Now().UTC().Truncate(time.Second) }

// shortened cuts a stage to the length that a conductor accepts.
func shortened(s string) string {
	const most = 250
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// eraseFailure says which disks could not be erased, and why.
func eraseFailure(failed []agentapi.ErasedDisk, of int) error {
	var each []string
	for _, d := range failed {
		each = append(each, fmt.Sprintf("%s (serial %q): %s", d.Device, d.Serial, d.Error))
	}
	return eraseError(fmt.Errorf("%d of %d disks could not be erased: %s", len(failed), of, strings.Join(each, "; ")))
}

func eraseError(err error) error {
	return agentapi.NewCommandError("BlockDeviceEraseError", "Error erasing block device", err.Error())
}
