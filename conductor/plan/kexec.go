package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// kexecStep has the agent start the installed system without the firmware, which takes minutes on a large server. The
// machine's boot device is set all the same: the next restart is an ordinary one.
const kexecStep = "agent.kexec"

// KexecCapability is the capability, in instance_info or properties, by which a node is
// started by its firmware alone (never) or as the conductor is configured (auto).
const KexecCapability = "kexec"

// plansKexec reports whether a deploy may end with a kexec.
func (d *decision) plansKexec() bool {
	return d.f.Settings.Kexec && d.n.DeployInterface() == "direct" && !Neutron(d.n) && // it changes the network, off
		wantedCapability(d.n, KexecCapability) != "never"
}

// againstKexec are the reasons to start the machine through its firmware. A kexec keeps the contents of memory, so the
// next user of the machine must be allowed to read them. And settings of the firmware take effect only when it starts.
var againstKexec = []struct {
	because string
	holds   func(d *decision) bool
}{
	{"the node has a lessee, who could read the ramdisk's remains in memory", func(d *decision) bool {
		return d.n.Lessee != ""
	}},
	{"the image was read with a pull secret, which may be left in memory", func(d *decision) bool {
		return d.n.InstanceInfo["image_pull_secret"] != nil
	}},
	{"the machine is to change its boot mode", func(d *decision) bool {
		want := wantedBootMode(d.n)
		return want != "" && d.n.BootMode != "" && want != d.n.BootMode
	}},
	{"the deploy has changed the machine through its BMC, which takes effect with a start of the firmware",
		func(d *decision) bool {
			return slices.ContainsFunc(d.n.Run.Steps[:d.n.Run.Index], func(s node.Step) bool { return s.Driver })
		}},
	{"the deploy has steps of its own between the ramdisk and the installed system", func(d *decision) bool {
		return !onlyStarts(d.n.Run.Left()[1:])
	}},
	{"the capability " + KexecCapability + " is neither auto nor never", func(d *decision) bool {
		value := wantedCapability(d.n, KexecCapability)
		return value != "" && value != "auto"
	}},
}

// onlyStarts reports whether steps do no more than start the machine from its disk.
func onlyStarts(steps []node.Step) bool {
	return !slices.ContainsFunc(steps, func(s node.Step) bool {
		return !own(s) || s.Interface != "power" && s.String() != "agent.power_off"
	})
}

// kexecs reports whether the run is to do its step agent.kexec. The history has the reason
// if not. An agent that is not Ferrite's has no such command.
func (d *decision) kexecs() bool {
	if _, ours := d.n.Run.Versions[ourManager]; !ours {
		return false
	}
	for _, a := range againstKexec {
		if a.holds(d) {
			d.note("INFO", "the machine is started through its firmware, not by kexec: "+a.because)
			return false
		}
	}
	return true
}

// kexecStarted ends the deploy: the installed system runs, and the agent is gone.
func kexecStarted(d *decision, k agentapi.Kexec) error {
	r := d.n.Run
	r.Steps = r.Steps[:r.Index+1]
	d.forgetAgent()
	d.note("INFO", Clip(fmt.Sprintf("the installed system was started by kexec (%s entry %q: %s)", k.Source, k.Entry,
		strings.Join(append([]string{k.Kernel}, k.Initrd...), ", "))))
	return nil
}

// kexecFailed continues with the firmware's way.
func kexecFailed(d *decision, o Outcome) bool {
	d.note("INFO", Clip("the machine is started through its firmware, not by kexec: "+o.Failure))
	d.next()
	return true
}
