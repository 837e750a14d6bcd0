package plan

import (
	"encoding/json"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// outcome takes what became of an effect. One of a run that is over is
// dropped: the row is gone, nothing else changes.
func (d *decision) outcome(o Outcome) {
	d.dirty = true // at least the effect's row is to be deleted
	if _, ok := chores[o.Effect.Name]; ok {
		d.choreEnded(o)
		return
	}
	if !Wanted(d.n, o.Effect) {
		return
	}
	if o.Failure != "" {
		if !d.replanned(o) {
			d.failRun(o.Failure)
		}
		return
	}
	settle, ok := settlers[o.Effect.Name]
	if !ok {
		d.failRun(fmt.Sprintf("no rule for the outcome of %s", o.Effect.Name))
		return
	}
	if err := settle(d, o.Result); err != nil {
		d.failRun(err.Error())
	}
}

// Wanted reports whether anybody waits for what becomes of an effect. One whose
// run has been aborted, or has run out of time, is better not begun: the
// machine may be wanted for something else by now.
func Wanted(n node.Node, ef node.Effect) bool {
	_, ok := chores[ef.Name]
	return ok || n.Run != nil && n.Run.Generation == ef.Generation
}

// replanned reports whether a run goes on another way after a failure, and takes it.
func (d *decision) replanned(o Outcome) bool {
	switch o.Effect.Name {
	case getSteps:
		return d.agentGone(o)
	case kexecStep:
		return d.kexecFailed(o)
	case setBootDevice:
		return d.bootDeviceRefused(o)
	case ejectMedium:
		return d.ejectFailed(o)
	}
	return false
}

// settlers say, by effect, what a success means for the node. Each goes on
// with the run, or returns the reason why it has failed all the same.
var settlers = map[string]func(d *decision, result json.RawMessage) error{
	"power.validate":            validated,
	"management.validate":       validated,
	"power.power_on":            powerIs(node.PowerOn, false),
	"power.power_off":           poweredOff,
	"power.reboot":              powerIs(node.PowerOn, true),
	setBootDevice:               bootDeviceSet,
	insertMedium:                mediumInserted,
	ejectMedium:                 mediumEjected,
	"management.set_boot_mode":  bootModeSet,
	"inspect.read_system":       systemKnown,
	readPorts:                   portsKnown,
	callEffect:                  goOn,
	attachNetwork:               networkAttached,
	"agent.get_steps":           stepsKnown,
	"agent.execute_step":        commandAnswered,
	"agent.get_partition_uuids": partitionsKnown,
	installBootloader:           commandAnswered,
	"agent.sync":                commandAnswered,
	"agent.finalize_rescue":     rescueFinalized,
	"agent.poll":                commandAnswered,
	kexecStep:                   kexecStarted,
	"agent.power_off":           askedOff, // the step after it waits until the machine is off
	hardwareEffect:              hardwareRead,
	driverEffect:                driverAnswered,
	childrenEffect:              goOn,
}

func goOn(d *decision, _ json.RawMessage) error {
	d.next()
	return nil
}

// Validated is the result of power.validate and management.validate.
type Validated struct {
	PowerState node.PowerState `json:"power_state,omitempty"`
	Health     string          `json:"health,omitempty"` // with a power state alone
	BootMode   string          `json:"boot_mode,omitempty"`
	SecureBoot *bool           `json:"secure_boot,omitempty"`
	SystemUUID string          `json:"system_uuid,omitempty"` // of the machine; "" where the BMC does not report it
}

func validated(d *decision, result json.RawMessage) error {
	var v Validated
	if err := read(result, &v); err != nil {
		return err
	}
	if err := d.knowSystem(v.SystemUUID); err != nil {
		return err
	}
	if v.PowerState != "" {
		d.setPower(v.PowerState, v.PowerState != node.PowerOn)
		d.n.Health = v.Health
	}
	if mode := believed(d.n, v.BootMode); mode != "" {
		d.bootModeIs(mode)
	}
	if v.SecureBoot != nil {
		d.n.SecureBoot = v.SecureBoot
	}
	d.next()
	return nil
}

func powerIs(p node.PowerState, cut bool) func(*decision, json.RawMessage) error {
	return func(d *decision, _ json.RawMessage) error {
		d.n.Run.FirmwareStarts++
		d.setPower(p, cut)
		d.next()
		return nil
	}
}

// PowerOffFailed is the result of agent.power_off and power.power_off when the
// agent did not turn its machine off.
type PowerOffFailed struct {
	Command string `json:"command,omitempty"` // its ID, if the agent took it
	Reason  string `json:"reason,omitempty"`
}

func askedOff(d *decision, result json.RawMessage) error {
	if err := d.notePowerOff(result); err != nil {
		return err
	}
	d.next()
	return nil
}

func poweredOff(d *decision, result json.RawMessage) error {
	if err := d.notePowerOff(result); err != nil {
		return err
	}
	d.setPower(node.PowerOff, true)
	d.next()
	return nil
}

// notePowerOff records in the history that the agent failed to turn its machine off: what it
// wrote last may not have reached the disk.
func (d *decision) notePowerOff(result json.RawMessage) error {
	if len(result) == 0 {
		return nil
	}
	var f PowerOffFailed
	if err := read(result, &f); err != nil || f.Reason == "" {
		return err
	}
	if f.Command != "" && len(f.Command) <= maxID {
		d.n.Agent.LastCommand = f.Command
	}
	d.note("WARNING", Clip("standby.power_off failed, the BMC turns the machine off: "+f.Reason))
	return nil
}

func bootModeSet(d *decision, result json.RawMessage) error {
	var r ChoreDone
	if len(result) > 0 {
		if err := read(result, &r); err != nil {
			return err
		}
	}
	if r.Note != "" {
		d.note("WARNING", Clip("the boot mode stays as it is, and the machine must boot by "+wantedBootMode(d.n)+
			": "+r.Note))
		d.next()
		return nil
	}
	if r.Restarted {
		d.n.Run.FirmwareStarts++
		d.note("INFO", "the machine was started once for its firmware to take the boot mode "+wantedBootMode(d.n))
	}
	d.bootModeIs(wantedBootMode(d.n))
	d.next()
	return nil
}

func systemKnown(d *decision, result json.RawMessage) error {
	var s node.System
	if err := read(result, &s); err != nil {
		return err
	}
	if err := d.knowSystem(s.UUID); err != nil {
		return err
	}
	d.systemRead(s)
	if err := d.applyRules(); err != nil {
		return err
	}
	d.next()
	return nil
}

func read(result json.RawMessage, into any) error {
	if err := json.Unmarshal(result, into); err != nil {
		return fmt.Errorf("the outcome cannot be read: %w", err)
	}
	return nil
}
