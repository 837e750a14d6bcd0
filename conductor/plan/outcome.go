package plan

import (
	"encoding/json"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Needs returns the needs of the outcome's effect, and of the end of a run.
func (o Outcome) Needs(n node.Node) (need Need) {
	if of := effects[o.Effect.Name]; of.needs != nil && o.Failure == "" {
		need = of.needs(o.Result)
	}
	need.Inventory, need.Bonds = Erases(n), tearsDown(n)
	need.Cleaning = undeploys(n)
	need.HardwareReport = need.HardwareReport || need.Cleaning
	return need
}

// handle handles the outcome of an effect. An outcome of a run that is over is dropped: only the effect's row is
// deleted.
func (o Outcome) handle(d *decision) error {
	d.dirty = true // at least the effect's row is to be deleted
	of := effects[o.Effect.Name]
	switch {
	case of.chore != nil:
		d.choreEnded(o, of)
	case !Wanted(d.n, o.Effect):
	case o.Failure != "":
		if of.replan == nil || !of.replan(d, o) {
			d.failRun(o.Failure)
		}
	case of.settle == nil:
		d.failRun(fmt.Sprintf("no rule for the outcome of %s", o.Effect.Name))
	default:
		if err := of.settle(d, o.Result); err != nil {
			d.failRun(err.Error())
		}
	}
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

func validated(d *decision, v Validated) error {
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
	return nil
}

func poweredOn(cut bool) func(*decision, struct{}) error {
	return func(d *decision, _ struct{}) error {
		d.n.Run.FirmwareStarts++
		d.setPower(node.PowerOn, cut)
		return nil
	}
}

// PowerOffFailed is the result of agent.power_off and power.power_off when the
// agent did not turn its machine off.
type PowerOffFailed struct {
	Command string `json:"command,omitempty"` // its ID, if the agent took it
	Reason  string `json:"reason,omitempty"`
}

func poweredOff(d *decision, f PowerOffFailed) error {
	err := askedOff(d, f)
	d.setPower(node.PowerOff, true)
	return err
}

// askedOff records in the history that the agent failed to turn its machine off: its last writes may not have reached
// the disk.
func askedOff(d *decision, f PowerOffFailed) error {
	if f.Reason == "" {
		return nil
	}
	if f.Command != "" && len(f.Command) <= maxID {
		d.n.Agent.LastCommand = f.Command
	}
	d.note("WARNING", Clip("standby.power_off failed, the BMC turns the machine off: "+f.Reason))
	return nil
}

func bootModeSet(d *decision, r ChoreDone) error {
	if r.Note != "" {
		d.note("WARNING", Clip("the boot mode stays as it is, and the machine must boot by "+wantedBootMode(d.n)+
			": "+r.Note))
		return nil
	}
	if r.Restarted {
		d.n.Run.FirmwareStarts++
		d.note("INFO", "the machine was started once for its firmware to take the boot mode "+wantedBootMode(d.n))
	}
	d.bootModeIs(wantedBootMode(d.n))
	return nil
}

func systemKnown(d *decision, s node.System) error {
	if err := d.knowSystem(s.UUID); err != nil {
		return err
	}
	d.systemRead(s)
	if err := d.applyRules(); err != nil {
		return err
	}
	return nil
}

// ends makes the settle of an effect after which the run goes on at once, unless take returns an error.
func ends[T any](take func(d *decision, result T) error) func(*decision, json.RawMessage) error {
	return takes(func(d *decision, result T) error {
		err := take(d, result)
		if err == nil {
			d.next()
		}
		return err
	})
}

// takes makes the settle of an effect by which the run may have to wait.
func takes[T any](take func(d *decision, result T) error) func(*decision, json.RawMessage) error {
	return func(d *decision, raw json.RawMessage) error {
		var result T
		if err := read(raw, &result); err != nil {
			return err
		}
		return take(d, result)
	}
}

func noResult(*decision, struct{}) error { return nil }

func read(result json.RawMessage, into any) error {
	if len(result) == 0 {
		return nil
	}
	if err := json.Unmarshal(result, into); err != nil {
		return fmt.Errorf("the outcome cannot be read: %w", err)
	}
	return nil
}
