package core

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// CheckImage refuses a deploy whose image the conductor itself would have to
// find, and cannot, and one that would not boot as this conductor is set. Where
// it is not known how a machine boots, its agent finds out, and refuses the same.
func (e *Core) CheckImage(n node.Node) error {
	if plan.IsPartitionImage(n) && plan.BootModeOf(n) == "bios" && !e.Settings.BIOSBootloader {
		return node.Refuse(node.Invalid,
			"node %s cannot be deployed: its partition image would have to run its own grub-install to boot by BIOS, which "+
				"agents do only with --enable-bios-bootloader-install; "+
				"have the machine boot by UEFI (capability boot_mode:uefi), or use a whole-disk image", n.UUID)
	}
	source := plan.ImageSource(n)
	if !plan.FoundByConductor(source) {
		return nil
	}
	if e.Images == nil {
		return node.Refuse(node.Invalid,
			"node %s cannot be deployed: this conductor takes images from http(s) URLs only, and "+
				"instance_info/image_source is %q", n.UUID, source)
	}
	if err := e.Images.Check(n, source); err != nil {
		return node.Refuse(node.Invalid, "node %s cannot be deployed: instance_info/image_source: %v", n.UUID, err)
	}
	return nil
}

// checkRequestedImage is checkImage for a request that would be taken otherwise.
func (e *Core) checkRequestedImage(ctx context.Context, ref string, r plan.Request) error {
	if r.Verb != node.Deploy && r.Verb != node.Rebuild {
		return nil
	}
	n, err := e.Node(ctx, ref)
	if err != nil || !node.Requestable(n.ProvisionState, r.Verb) {
		return err
	}
	return e.CheckImage(n)
}
