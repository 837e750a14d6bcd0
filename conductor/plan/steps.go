package plan

import "github.com/ferrite-metal/ferrite/conductor/node"

// waits are the steps that only the machine can finish: what they wait for,
// for people.
var waits = map[string]string{
	waitHeartbeat: "the first heartbeat of the ramdisk's agent",
	waitData:      "the inspection data of the ramdisk",
}

const (
	waitHeartbeat = "agent.wait_for_heartbeat"
	waitData      = "inspect.wait_for_data"
	getSteps      = "agent.get_steps"
)

func step(iface, name string, args map[string]any) node.Step {
	return node.Step{Interface: iface, Step: name, Args: args}
}

// bootRamdisk turns the machine off and on again into the ramdisk, through
// the network, this once.
func bootRamdisk(d *decision) []node.Step {
	steps := []node.Step{step("power", "power_off", nil)}
	if mode := wantedBootMode(d.n); mode != "" && mode != d.n.BootMode {
		steps = append(steps, step("management", "set_boot_mode", map[string]any{"mode": mode}))
	}
	return append(steps,
		step("management", "set_boot_device", map[string]any{"device": networkDevice(d.n), "persistent": false}),
		step("power", "power_on", nil))
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
// when an agent is running and may be used (fast track).
func withAgent(d *decision) []node.Step {
	if d.f.Settings.FastTrack && d.agentAlive() {
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

// agentDeploy reports whether the deploy interface works through an agent in
// a ramdisk. Only fake has no steps at all.
func agentDeploy(n node.Node) bool { return n.Interfaces["deploy"] != "fake" }

// WantsRamdisk reports whether a network boot of n must lead to the ramdisk:
// a step that waits for it is still to come.
func WantsRamdisk(n node.Node) bool {
	if n.Run == nil {
		return false
	}
	for _, s := range n.Run.Steps[min(n.Run.Index, len(n.Run.Steps)):] {
		if _, ok := waits[s.String()]; ok {
			return true
		}
	}
	return false
}

// Inspecting reports whether that ramdisk is to send inspection data.
func Inspecting(n node.Node) bool {
	return n.Run != nil && n.Run.Activity == "inspect"
}
