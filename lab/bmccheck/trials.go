package bmccheck

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/doctor"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// trials are the operations that need more than the doctor's look and exercise.
func (b *bench) trials() map[string]doctor.Trial {
	return map[string]doctor.Trial{"inspect": b.inspect, "parts": b.parts, "sensors": b.sensors, "power": power,
		"boot device": bootDevice, "boot mode": bootMode, "BIOS settings": writeBIOS, "secure boot": secureBoot,
		"indicators": indicators}
}

// inspect wants the parts that every machine has.
func (b *bench) inspect(ctx context.Context, d *redfish.Driver, n node.Node) error {
	s, err := d.System(ctx, n)
	if err != nil {
		return err
	}
	p, err := d.Parts(ctx, n)
	if err != nil {
		return err
	}
	for _, m := range p.Memory {
		s.MemoryMB += m.MB
	}
	return b.reported(map[string]bool{"manufacturer": s.Manufacturer != "", "UUID": s.UUID != "",
		"memory": s.MemoryMB > 0, "processors": s.CPUs > 0, "MAC addresses": len(s.MACs) > 0,
		"memory modules": len(p.Memory) > 0, "PCI devices": len(p.PCI) > 0})
}

// parts wants names that distinguish cards, the speeds that the BMC knows, and the properties by which a person chooses
// a disk.
func (b *bench) parts(ctx context.Context, d *redfish.Driver, n node.Node) error {
	p, err := d.Parts(ctx, n)
	if err != nil {
		return err
	}
	named := map[string]bool{}
	speeds := false
	for _, c := range p.Cards {
		if c.Name == "" || named[c.Name] {
			return fmt.Errorf("the card %s has the name %q, as another has", c.MAC, c.Name)
		}
		named[c.Name] = true
		speeds = speeds || c.SpeedMbps > 0
	}
	for _, disk := range p.Disks {
		if disk.Name == "" || disk.Bytes <= 0 {
			return fmt.Errorf("a disk has the name %q and %d bytes", disk.Name, disk.Bytes)
		}
	}
	return b.reported(map[string]bool{"network cards": len(p.Cards) > 0, "speeds of cards": speeds,
		"disks": len(p.Disks) > 0})
}

// sensors wants a temperature, and all other kinds that the tree measures.
func (b *bench) sensors(ctx context.Context, d *redfish.Driver, n node.Node) error {
	r, err := d.Sensors(ctx, n)
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for _, s := range r.Sensors {
		has[s.Group] = has[s.Group] || s.Reading != nil
	}
	return b.reported(map[string]bool{"temperatures": has[node.TemperatureSensor], "fans": has[node.FanSensor],
		"power readings": has[node.PowerSensor]})
}

// settleTime is the time for a recorded machine to reach the requested state.
const settleTime = 10 * time.Second

func power(ctx context.Context, d *redfish.Driver, n node.Node) error {
	for _, c := range []struct{ target, want node.PowerState }{
		{node.PowerOff, node.PowerOff}, {node.PowerOn, node.PowerOn}, {node.Rebooting, node.PowerOn},
		{node.SoftPowerOff, node.PowerOff}, {node.PowerOff, node.PowerOff}, {node.PowerOn, node.PowerOn},
	} {
		if err := d.SetPower(ctx, n, c.target); err != nil {
			return fmt.Errorf("%s: %w", c.target, err)
		}
		if err := becomes(ctx, d, n, c.want); err != nil {
			return fmt.Errorf("%s: %w", c.target, err)
		}
	}
	return nil
}

// becomes waits for a power state.
func becomes(ctx context.Context, d *redfish.Driver, n node.Node, want node.PowerState) error {
	for end := time.Now().Add(settleTime); ; {
		is, err := d.PowerState(ctx, n)
		if err != nil || is == want {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("the machine is %q after %s", is, settleTime)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// bootDevice sets each device that a deploy needs, and reads it back.
func bootDevice(ctx context.Context, d *redfish.Driver, n node.Node) error {
	for _, c := range []struct {
		device     string
		persistent bool
	}{{"pxe", false}, {"disk", true}, {"disk", false}} {
		if err := d.SetBootDevice(ctx, n, c.device, c.persistent); err != nil {
			return fmt.Errorf("%s: %w", c.device, err)
		}
		is, _, err := d.BootDevice(ctx, n)
		if err != nil || is != c.device {
			return errors.Join(fmt.Errorf("%s was set, %q is read back", c.device, is), err)
		}
	}
	return nil
}

// bootMode sets the mode that the machine has, and the other one with a start in between.
func bootMode(ctx context.Context, d *redfish.Driver, n node.Node) error {
	was, err := d.BootMode(ctx, n)
	if err != nil {
		return err
	}
	other := map[string]string{"uefi": "bios", "bios": "uefi"}[was]
	if err := d.SetBootMode(ctx, n, was); err != nil {
		return fmt.Errorf("%s, which it has: %w", was, err)
	}
	err = d.SetBootMode(ctx, n, other)
	if isRefused(err, "NotInList") {
		return node.Refuse(node.NotFound, "only %s is offered", was)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", other, err)
	}
	if err := restart(ctx, d, n); err != nil {
		return err
	}
	if is, err := d.BootMode(ctx, n); err != nil || is != other {
		return errors.Join(fmt.Errorf("%s was set, %q is read back", other, is), err)
	}
	return d.SetBootMode(ctx, n, was)
}

// isRefused reports whether an error is the BMC's, with a message id that holds a word.
func isRefused(err error, word string) bool { return err != nil && strings.Contains(err.Error(), word) }

func restart(ctx context.Context, d *redfish.Driver, n node.Node) error {
	if err := d.SetPower(ctx, n, node.Rebooting); err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	return becomes(ctx, d, n, node.PowerOn)
}

// writeBIOS writes the first setting that has another value to take, and writes the old one again.
func writeBIOS(ctx context.Context, d *redfish.Driver, n node.Node) error {
	r, err := d.ReportHardware(ctx, n)
	if err != nil {
		return err
	}
	for _, s := range r.BIOS {
		other, was := otherValue(s)
		if other == nil {
			continue
		}
		for _, value := range []any{other, was} {
			if err := applyBIOS(ctx, d, n, s.Name, value); err != nil {
				return fmt.Errorf("%s to %v: %w", s.Name, value, err)
			}
		}
		return nil
	}
	return node.Refuse(node.NotFound, "no BIOS setting with a choice of values is reported")
}

// switches are the values of settings that can be turned over where no registry was recorded that lists the choice.
var switches = map[string][2]any{
	"Enabled": {"Disabled", "Enabled"}, "Disabled": {"Enabled", "Disabled"}, "true": {false, true}, "false": {true, false},
}

// otherValue is a valid value of a setting that differs from its current value, and the current value; nil for none.
func otherValue(s node.BIOSSetting) (other, was any) {
	if s.Value == nil || s.ReadOnly != nil && *s.ReadOnly {
		return nil, nil
	}
	for _, v := range s.AllowableValues {
		if v != *s.Value {
			return v, *s.Value
		}
	}
	if turned, ok := switches[*s.Value]; ok && len(s.AllowableValues) == 0 {
		return turned[0], turned[1]
	}
	return nil, nil
}

// applyBIOS does the step as the engine does it: until it is done, with the starts that it asks for.
func applyBIOS(ctx context.Context, d *redfish.Driver, n node.Node, name string, value any) error {
	s := node.Step{Interface: "bios", Step: "apply_configuration",
		Args: map[string]any{"settings": []any{map[string]any{"name": name, "value": value}}}}
	task, note := "", ""
	for range 50 {
		report, err := d.DoStep(ctx, n, s, task)
		if err != nil || report.Done {
			return err
		}
		if report.Reboot {
			if err := restart(ctx, d, n); err != nil {
				return err
			}
		}
		task, note = report.Task, report.Note
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("the step is not done: %s", note)
}

func secureBoot(ctx context.Context, d *redfish.Driver, n node.Node) error {
	was, err := d.SecureBoot(ctx, n)
	if err != nil {
		return err
	}
	for _, on := range []bool{!*was, *was} {
		if err := d.SetSecureBoot(ctx, n, on); err != nil {
			return fmt.Errorf("on %v: %w", on, err)
		}
		if err := restart(ctx, d, n); err != nil {
			return err
		}
		if is, err := d.SecureBoot(ctx, n); err != nil || is == nil || *is != on {
			return errors.Join(fmt.Errorf("%v was set, and is not read back", on), err)
		}
	}
	return nil
}

func indicators(ctx context.Context, d *redfish.Driver, n node.Node) error {
	all, err := d.Indicators(ctx, n)
	if err != nil {
		return err
	}
	for _, i := range all[:min(len(all), 4)] {
		for _, state := range i.States {
			if i.ReadOnly {
				continue
			}
			if err := d.SetIndicatorState(ctx, n, i.Component, i.Name, state); err != nil {
				return fmt.Errorf("%s@%s to %s: %w", i.Name, i.Component, state, err)
			}
		}
	}
	return nil
}
