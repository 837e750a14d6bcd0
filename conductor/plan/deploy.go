package plan

import (
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// deploy puts a workload on the machine: deploying -> active. Rebuild is the
// same activity on a node that has an instance already. The deploy interface
// says how.
type deploy struct{}

// deployPlans is the conductor's own steps by deploy interface.
var deployPlans = map[string]func(*decision) []node.Step{
	"fake":         func(*decision) []node.Step { return nil },
	"noop":         func(*decision) []node.Step { return nil },
	"direct":       writeAndBoot,
	"custom-agent": customAgent,
	"ramdisk":      bootInstance,
}

// The priorities Ironic gives to the parts of a deploy. Steps of drivers,
// agents, templates and requests find their place between them by their own.
const (
	atRamdisk    = 100 // the ramdisk is booted
	atImage      = 80  // the image is written
	atBootloader = 60  // the boot settings are made
	atLeaving    = 40  // the ramdisk is left
	atInstance   = 20  // the instance is booted
)

func prioritised(priority int, steps ...node.Step) []node.Step {
	for i := range steps {
		steps[i].Priority = priority
	}
	return steps
}

// leftAlone reports whether a machine keeps running through deploy, undeploy and cleaning (deploy interface noop). So a
// machine that runs a workload becomes a server of Nova, by the verb deploy.
func leftAlone(n node.Node) bool { return n.DeployInterface() == "noop" }

// deployFound keeps the deploy interface that autodetect has found.
func deployFound(d *decision, _ Request) error {
	d.n.FixDeploy()
	return nil
}

// overwritable refuses to write over an instance that must stay, and over remains of an unknown one.
func overwritable(d *decision, r Request) error {
	switch {
	case d.n.ProvisionState == node.Active:
		return notProtected(d, r)
	case d.n.ProvisionState == node.Error && d.n.InstanceUUID == "":
		// Ironic would write another tenant's image here, onto disks that were not cleaned.
		return node.Refuse(node.InvalidState,
			"Node %s is in error, and its disks may hold what its last instance left: delete it again, or set instance_uuid "+
				"to that instance and rebuild it", d.n.UUID)
	}
	return nil
}

// DeployFor is the run of a deploy that a user of a project asks for; "" is the whole system.
func DeployFor(n node.Node, project string) node.Run {
	return node.Run{Activity: "deploy", Project: project, Image: node.GlanceImage(askedImage(n))}
}

func (deploy) steps(d *decision) ([]node.Step, error) {
	for _, check := range []func(node.Node) error{CheckInstance, CheckInstanceTraits} {
		if err := check(d.n); err != nil { // it may have changed since the request
			return nil, err
		}
	}
	own := deployPlans[d.n.DeployInterface()](d)
	if leftAlone(d.n) {
		return own, nil
	}
	return append(prioritised(atRamdisk, bindFlat(d, TenantNetwork)...), own...), nil
}

// writeAndBoot streams the image onto the disk (deploy interface direct). For a partition image, it then asks the agent
// for the partitions.
func writeAndBoot(d *decision) []node.Step {
	steps := prioritised(atRamdisk, withAgent(d)...)
	steps = append(steps, node.Step{Interface: "deploy", Step: "write_image", Priority: atImage, InBand: true,
		Args: writeImageArgs(d.n)})
	args := map[string]any{"target_boot_mode": BootModeOf(d.n)}
	if uuid := rootOnArray(d.n); uuid != "" {
		args["root_uuid"] = uuid
	}
	boot := []node.Step{step("agent", "install_bootloader", args)}
	if IsPartitionImage(d.n) {
		boot = append([]node.Step{step("agent", "get_partition_uuids", nil)}, boot...)
	}
	return append(append(steps, prioritised(atBootloader, boot...)...), leaveForDisk(d)...)
}

// installBootloader is the step that makes an image bootable.
const installBootloader = "agent.install_bootloader"

// customAgent leaves the writing to steps that a request, a template or a
// ramdisk of the operator's own brings (deploy interface custom-agent).
func customAgent(d *decision) []node.Step {
	return append(prioritised(atRamdisk, withAgent(d)...), leaveForDisk(d)...)
}

// leaveForDisk ends the ramdisk and boots the deployed disk. The ramdisk shuts down by itself, so that all its writes
// reach the disk. A machine that must not be turned off is reset after its disks are synced.
func leaveForDisk(d *decision) []node.Step {
	leave := []node.Step{
		step("agent", "sync", nil),
		aimAt(d.n, "disk", true),
	}
	if d.plansKexec() {
		leave = append(leave, step("agent", "kexec", map[string]any{"target_boot_mode": BootModeOf(d.n)}))
	}
	if d.n.DisablePowerOff {
		return append(prioritised(atLeaving, leave...), prioritised(atInstance, step("power", "reboot", nil))...)
	}
	if truth(d.n.DriverInfo["deploy_forces_oob_reboot"]) { // as in Ironic, for ramdisks that do not shut down
		leave = append(leave, step("power", "power_off", nil))
	} else {
		leave = append(leave, step("agent", "power_off", nil),
			step("power", "power_off", map[string]any{"grace_seconds": d.f.Settings.RamdiskPowerOff.Seconds()}))
	}
	leave = append(leave, attachTo(d, TenantNetwork)...)
	return append(prioritised(atLeaving, leave...), prioritised(atInstance, step("power", "power_on", nil))...)
}

// writeImage is the agent's step that the conductor gives a place and
// arguments of its own.
const writeImage = "deploy.write_image"

func (deploy) done(d *decision, _ node.Run) {
	if !IsPartitionImage(d.n) {
		d.forgetPartitions() // of an image that was there before
	}
	d.fire(node.Done)
}

// The machine stays as it is, its agent running, for a look at it. The agent
// has wiped the start of a disk it could not write whole, so it cannot boot
// half an image.
func (deploy) fail(d *decision, _ node.Run, _ string) {
	d.n.RestoreDeploy() // the next try may be of another kind of image
	d.fire(node.Fail)
}

func (deploy) timeout(s Settings) time.Duration { return s.DeployTimeout }

// text reads a string out of a free-form map; values of other types are printed.
func text(m map[string]any, key string) string {
	switch v := m[key].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}
