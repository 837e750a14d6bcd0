package host

import (
	"cmp"
	"reflect"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/firmware"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// handlePreparing brings the machine's RAID volumes and firmware to the documents' wishes. After a failure, neither the
// recorded volumes nor the recorded updates are trusted.
func (d *decision) handlePreparing() {
	s, is, f := d.wantedSettings(), d.h.Status.Provisioning.RAID, d.firmwareToPrepare()
	dirty := d.settingsDiffer(s) || f.Asked()
	if d.h.Status.ErrorType == hostapi.PreparationError {
		is, dirty = nil, true
	}
	switch n := d.facts.Node; n.ProvisionState {
	case node.Available, node.Manageable:
		if dirty {
			d.applySettings(s, is, f)
			return
		}
		d.finishPreparing()
	case node.CleanFailed:
		again := d.failOrRetry(hostapi.PreparationError,
			cmp.Or(n.LastError, "the preparation failed, and the node does not say why"))
		d.clearSettings()
		d.forgetUpdates()
		if again {
			d.makeManageable(hostapi.PreparationError)
		}
	default:
		d.unexpected(hostapi.PreparationError)
	}
}

func (d *decision) finishPreparing() {
	d.succeeded()
	d.fire(Prepared)
}

// applySettings has the volumes made, and the firmware changed, if there is anything to
// be done.
func (d *decision) applySettings(s provisioningSettings, is *hostapi.RAID, f firmware.Change) {
	a, err := translate.AccessOf(d.h.Spec.BMC)
	if err != nil {
		d.failUntilChanged(hostapi.PreparationError, "%v", err)
		return
	}
	steps, err := a.RAIDSteps(s.raid, is)
	steps = append(steps, f.Steps()...)
	switch {
	case err != nil:
		d.failUntilChanged(hostapi.PreparationError, "%v", err)
		return
	case len(steps) == 0:
		d.saveSettings(s)
		d.recordUpdates(f)
		d.finishPreparing()
		return
	case d.facts.Node.ProvisionState == node.Available:
		d.doKeepingError(verb(node.Manage), hostapi.PreparationError)
		return
	}
	if !d.setRAIDTarget(a, s, is) {
		return
	}
	d.saveSettings(s)
	d.recordUpdates(f)
	d.do(Provision{plan.Request{Verb: node.Clean, CleanSteps: steps}}, hostapi.PreparationError)
}

// setRAIDTarget gives the node the volumes to make, and the interface that makes them.
func (d *decision) setRAIDTarget(a translate.Access, s provisioningSettings, is *hostapi.RAID) (aimed bool) {
	maker, err := a.RAIDInterface(s.raid, is)
	if err != nil {
		d.failUntilChanged(hostapi.PreparationError, "%v", err)
		return false
	}
	if edit, differs := d.edit(func(n *node.Node) { translate.SetInterface(n, "raid", maker) }); maker != "" && differs {
		d.doKeepingError(edit, hostapi.PreparationError)
		return false
	}
	if config := translate.RAIDConfig(s.hints, s.raid); config != nil &&
		!reflect.DeepEqual(config, d.facts.Node.TargetRAIDConfig) {
		d.doKeepingError(SetRAID{config}, hostapi.PreparationError)
		return false
	}
	return true
}

// makeManageable brings a node that could not be cleaned back to where it can be tried
// again.
func (d *decision) makeManageable(t hostapi.ErrorType) {
	if d.facts.Node.Maintenance {
		d.doKeepingError(SetMaintenance{}, t)
		return
	}
	d.doKeepingError(verb(node.Manage), t)
}
