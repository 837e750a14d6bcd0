package plan

import (
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

const getSteps = "agent.get_steps"

func step(iface, name string, args map[string]any) node.Step {
	return node.Step{Interface: iface, Step: name, Args: args}
}

// bootRamdisk turns the machine off and on again into the ramdisk, through
// the network, this once. A machine that must not be turned off is reset.
func bootRamdisk(d *decision) []node.Step {
	if d.n.DisablePowerOff {
		return append(aimAtRamdisk(d), step("power", "reboot", nil))
	}
	// To set the boot mode may start the machine, which then boots by its own order: not in the ramdisk's network yet.
	return slices.Concat([]node.Step{step("power", "power_off", nil)}, setBootMode(d), attachToRamdisk(d), bootDevice(d),
		[]node.Step{step("power", "power_on", nil)})
}

// startRamdisk turns a machine that is off on, into the ramdisk.
func startRamdisk(d *decision) []node.Step {
	return append(aimAtRamdisk(d), step("power", "power_on", nil))
}

// aimAtRamdisk makes the machine boot the ramdisk next.
func aimAtRamdisk(d *decision) []node.Step { return append(setBootMode(d), bootDevice(d)...) }

// bootDevice makes the machine boot the ramdisk next.
func bootDevice(d *decision) []node.Step {
	return append(insertSteps(d.n, MediumRamdisk),
		aimAt(d.n, ramdiskDevice(d.n), false))
}

// setBootMode is needed only where the machine has another one.
func setBootMode(d *decision) []node.Step {
	if mode := wantedBootMode(d.n); mode != "" && mode != d.n.BootMode {
		return []node.Step{step("management", "set_boot_mode", map[string]any{"mode": mode})}
	}
	return nil
}

// networkDevice is how the machine boots from the network: UEFI HTTP boot
// where the boot interface says so, PXE elsewhere.
func networkDevice(n node.Node) string {
	switch n.Implementation("boot") {
	case "http", "http-ipxe", "redfish-https":
		return "uefihttp"
	}
	return "pxe"
}

// withAgent boots the ramdisk and waits for its agent. It skips the boot if an agent is running and may be used: by
// fast track, or in a held run if the operator requests other steps.
func withAgent(d *decision) []node.Step {
	if (d.fastTracks() || d.held) && d.agentAtHand() {
		return []node.Step{step("agent", "get_steps", nil)}
	}
	return append(bootToAgent(d), step("agent", "get_steps", nil))
}

// bootToAgent boots the ramdisk and waits for its agent.
func bootToAgent(d *decision) []node.Step { return append(bootRamdisk(d), awaitAgentSteps(d)...) }

// awaitAgentSteps waits for the agent of a boot under way.
func awaitAgentSteps(d *decision) []node.Step {
	return append([]node.Step{step("agent", "wait_for_heartbeat", nil)}, ejectSteps(d.n)...)
}

// returnToRamdisk makes the machine come back into the ramdisk from a power
// step that is followed by steps which need the agent.
func (d *decision) returnToRamdisk(steps []node.Step) []node.Step {
	var out []node.Step
	for i, s := range steps {
		returns := own(s) && slices.ContainsFunc(steps[i+1:], needsAgent)
		switch {
		case returns && s.Step == "reboot":
			out = append(out, bootToAgent(d)...)
		case returns && s.Step == "power_on":
			out = append(out, append(startRamdisk(d), awaitAgentSteps(d)...)...)
		default:
			out = append(out, s)
		}
	}
	return out
}

// leaveRamdisk turns the machine off at the end of an activity, unless the next one can use the running agent. With
// fast track that is known only at the end: the agent may not be Ferrite's.
func leaveRamdisk(d *decision) []node.Step {
	switch {
	case d.n.DisablePowerOff:
		return nil
	case d.fastTracks():
		return []node.Step{step("agent", "keep_or_power_off", nil)}
	}
	off := []node.Step{step("power", "power_off", nil)}
	if attachToRamdisk(d) == nil {
		return off
	}
	return append(off, attachTo(d, NoNetwork)...)
}

// bootInstance boots the machine's instance: from its disk, or from the network if the instance is a ramdisk.
func bootInstance(d *decision) []node.Step {
	device, insert := "disk", []node.Step(nil)
	if d.n.DeployInterface() == "ramdisk" {
		device, insert = ramdiskDevice(d.n), insertSteps(d.n, MediumInstance)
	}
	aim := append(insert, aimAt(d.n, device, true))
	if d.n.DisablePowerOff {
		return append(aim, step("power", "reboot", nil))
	}
	return slices.Concat([]node.Step{step("power", "power_off", nil)}, attachTo(d, TenantNetwork), aim,
		[]node.Step{step("power", "power_on", nil)})
}

// agentDeploy reports whether the deploy interface works through an agent in
// a ramdisk.
func agentDeploy(n node.Node) bool { return n.DeployInterface() != "fake" && !leftAlone(n) }

// own reports whether the conductor itself does a step, rather than the agent,
// the driver or the child nodes. Agents name their steps as they like, ours too.
func own(s node.Step) bool { return !s.InBand && !s.Driver && !s.OnChildren }

// waitsIn reports whether s is one of the waits of our own plans.
func waitsIn(s *node.Step, name string) bool { return s != nil && own(*s) && s.String() == name }

// needsAgent reports whether a step cannot be done, or does not end, without
// an agent that runs. To see the agent off takes none: the BMC does it else.
func needsAgent(s node.Step) bool {
	switch {
	case s.InBand:
		return true
	case !own(s):
		return false
	case s.Interface == "agent":
		return s.Step != "wait_for_heartbeat" && s.Step != "power_off" && s.Step != "keep_or_power_off"
	}
	return endsWithHeartbeat(s)
}

// inRamdisk reports whether the machine may be in the ramdisk: a token was
// given out since it was last off.
func inRamdisk(n node.Node) bool { return n.Agent.URL != "" || n.Agent.Token != "" }

// WantsRamdisk reports whether a network boot of n must lead to the ramdisk:
// a step that waits for it is still to come.
func WantsRamdisk(n node.Node) bool {
	return slices.ContainsFunc(n.Run.Left(), func(s node.Step) bool {
		return waitsIn(&s, waitHeartbeat) || waitsIn(&s, waitData)
	})
}

// Inspecting reports whether that ramdisk is to send inspection data.
func Inspecting(n node.Node) bool {
	return n.Run != nil && n.Run.Activity == "inspect"
}

// Rescuing reports whether that ramdisk is for people to log in.
func Rescuing(n node.Node) bool {
	return n.Run != nil && n.Run.Activity == "rescue"
}
