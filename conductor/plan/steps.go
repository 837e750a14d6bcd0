package plan

import "github.com/ferrite-metal/ferrite/conductor/node"

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
	return append([]node.Step{step("power", "power_off", nil)}, startRamdisk(d)...)
}

// startRamdisk turns a machine that is off on, into the ramdisk.
func startRamdisk(d *decision) []node.Step {
	return append(aimAtRamdisk(d), step("power", "power_on", nil))
}

// aimAtRamdisk makes the next boot one into the ramdisk.
func aimAtRamdisk(d *decision) []node.Step {
	return append(setBootMode(d),
		step("management", "set_boot_device", map[string]any{"device": networkDevice(d.n), "persistent": false}))
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
	switch n.Interfaces["boot"] {
	case "http", "http-ipxe", "redfish-https":
		return "uefihttp"
	}
	return "pxe"
}

// withAgent boots the ramdisk and waits for its agent, or spares the boot
// when an agent is running and may be used (fast track, or a held run whose
// operator asks for other steps).
func withAgent(d *decision) []node.Step {
	if (d.f.Settings.FastTrack || d.held) && d.agentAlive() {
		return []node.Step{step("agent", "get_steps", nil)}
	}
	return append(bootRamdisk(d), step("agent", "wait_for_heartbeat", nil), step("agent", "get_steps", nil))
}

// leaveRamdisk turns the machine off at the end of an activity, unless the
// next one can use the running agent.
func leaveRamdisk(d *decision) []node.Step {
	if d.f.Settings.FastTrack || d.n.DisablePowerOff {
		return nil
	}
	return []node.Step{step("power", "power_off", nil)}
}

// bootInstance takes the machine into what it is there for, however it comes:
// from its disk, or from the network where the instance is a ramdisk.
func bootInstance(d *decision) []node.Step {
	device := "disk"
	if d.n.Interfaces["deploy"] == "ramdisk" {
		device = networkDevice(d.n)
	}
	aim := step("management", "set_boot_device", map[string]any{"device": device, "persistent": true})
	if d.n.DisablePowerOff {
		return []node.Step{aim, step("power", "reboot", nil)}
	}
	return []node.Step{step("power", "power_off", nil), aim, step("power", "power_on", nil)}
}

// agentDeploy reports whether the deploy interface works through an agent in
// a ramdisk. Only fake has no steps at all.
func agentDeploy(n node.Node) bool { return n.Interfaces["deploy"] != "fake" }

// WantsRamdisk reports whether a network boot of n must lead to the ramdisk:
// a step that waits for it is still to come.
func WantsRamdisk(n node.Node) bool {
	for _, s := range n.Run.Left() {
		if name := s.String(); name == waitHeartbeat || name == waitData {
			return true
		}
	}
	return false
}

// Inspecting reports whether that ramdisk is to send inspection data.
func Inspecting(n node.Node) bool {
	return n.Run != nil && n.Run.Activity == "inspect"
}

// Rescuing reports whether that ramdisk is the one people log in to.
func Rescuing(n node.Node) bool {
	return n.Run != nil && n.Run.Activity == "rescue"
}
