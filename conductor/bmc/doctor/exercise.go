package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Exercise lists the changes that the user allows. The zero value changes nothing.
type Exercise struct {
	BootDevice bool   // set pxe, read it back, and restore the former device
	Power      bool   // switch the machine off and on: programs that run on it end
	Medium     string // URL of an image to insert into the virtual CD and to eject; "" for none
}

// Trial changes a part of a machine that nothing runs on, and restores it. It runs after the look at an operation that
// works, instead of the operation's exercise.
type Trial func(ctx context.Context, d *redfish.Driver, n node.Node) error

func exerciseBootDevice(ctx context.Context, v *visit) (string, error) {
	if !v.exercise.BootDevice {
		return "", nil
	}
	was, lasting, err := v.driver.BootDevice(ctx, v.node)
	if err != nil {
		return "", err
	}
	if err := v.driver.SetBootDevice(ctx, v.node, "pxe", false); err != nil {
		return "", fmt.Errorf("set pxe: %w", err)
	}
	is, _, err := v.driver.BootDevice(ctx, v.node)
	if err == nil && is != "pxe" {
		err = fmt.Errorf("pxe was set, %q is read back", is)
	}
	if was == "" {
		return v.clearBootDevice(ctx, err)
	}
	if back := v.driver.SetBootDevice(ctx, v.node, was, lasting); back != nil {
		return "", errors.Join(err, fmt.Errorf("set %s again, as it was: %w", was, back))
	}
	return "pxe was set and read back, and then " + was + " as before", err
}

// clearBootDevice takes the trial back where nothing was set before; cause is its outcome.
func (v *visit) clearBootDevice(ctx context.Context, cause error) (string, error) {
	if v.redfish == nil { // IPMI's driver has no word for none
		return "pxe was set for the next start and read back; it stays so until the machine starts", cause
	}
	if err := v.redfish.ClearBootDevice(ctx, v.node); err != nil {
		return "", errors.Join(cause, fmt.Errorf("take pxe back: %w", err))
	}
	return "pxe was set, read back, and taken back", cause
}

// powerTime is how long a machine may take to be off, or on.
const powerTime = 5 * time.Minute

func exercisePower(ctx context.Context, v *visit) (string, error) {
	if !v.exercise.Power {
		return "", nil
	}
	was, err := v.driver.PowerState(ctx, v.node)
	if err != nil {
		return "", err
	}
	states := []node.PowerState{node.PowerOff, node.PowerOn}
	if was == node.PowerOff {
		slices.Reverse(states)
	}
	detail := ""
	for _, state := range states {
		start := time.Now()
		if err := v.driver.SetPower(ctx, v.node, state); err != nil {
			return "", fmt.Errorf("%s: %w", state, err)
		}
		if err := v.becomes(ctx, state); err != nil {
			return "", err
		}
		detail += fmt.Sprintf("%s after %s; ", state, time.Since(start).Round(100*time.Millisecond))
	}
	return detail[:len(detail)-2], nil
}

// becomes waits for a power state.
func (v *visit) becomes(ctx context.Context, want node.PowerState) error {
	ctx, cancel := context.WithTimeout(ctx, powerTime)
	defer cancel()
	for {
		is, err := v.driver.PowerState(ctx, v.node)
		if err != nil || is == want {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the machine is %q %s after %q was asked for", is, powerTime, want)
		case <-time.After(v.pause):
		}
	}
}

func exerciseMedia(ctx context.Context, v *visit) (string, error) {
	if v.exercise.Medium == "" {
		return "", nil
	}
	m := node.Medium{Device: "cdrom", Image: v.exercise.Medium}
	holds := func() (bool, error) {
		slots, err := v.redfish.MediaSlots(ctx, v.node)
		return slices.ContainsFunc(slots, func(s node.MediaSlot) bool { return s.Image != nil && *s.Image == m.Image }), err
	}
	if err := v.redfish.AttachMedium(ctx, v.node, m); err != nil {
		return "", fmt.Errorf("insert: %w", err)
	}
	in, err := holds()
	if err == nil && !in {
		err = errors.New("no drive shows the image after it was inserted")
	}
	if out := v.redfish.DetachMedia(ctx, v.node, []string{"cdrom"}); out != nil {
		return "", errors.Join(err, fmt.Errorf("eject: %w", out))
	}
	if still, after := holds(); err == nil && after == nil && still {
		err = errors.New("a drive shows the image after it was ejected")
	}
	return "the image was inserted, read back and ejected", err
}
