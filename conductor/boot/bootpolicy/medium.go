package bootpolicy

import (
	"context"
	"fmt"
	"net"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/pxe"
)

// Medium is the content of n's boot medium: the kernel and ramdisk of its instance, or our agent's. The agent's kernel
// line has this boot's one-time token, until an agent has used it.
func (p *Policy) Medium(ctx context.Context, n node.Node) (pxe.Boot, error) {
	if p.Engine.Held() {
		return pxe.Boot{}, node.Refuse(node.Busy, "This conductor was restored from a backup and boots no machine yet.")
	}
	if plan.MediumOf(n) == plan.MediumInstance {
		own, ok := plan.BootsInstance(n)
		if !ok || own.ISO != "" {
			return pxe.Boot{}, node.Refuse(node.Invalid, "node %s has no kernel and ramdisk to boot as its instance", n.UUID)
		}
		return p.instance(ctx, n, own)
	}
	kernel, initrd, err := p.ramdisk(ctx, n)
	if err != nil {
		return pxe.Boot{}, err
	}
	if kernel == "" || initrd == "" {
		return pxe.Boot{}, noRamdisk(n)
	}
	files, err := overlay(n)
	if err != nil {
		return pxe.Boot{}, fmt.Errorf("network_data of node %s for its ramdisk: %w", n.UUID, err)
	}
	line, err := p.mediumLine(ctx, n)
	if err != nil {
		return pxe.Boot{}, err
	}
	return pxe.Boot{Action: pxe.Ramdisk, Kernel: kernel, Initrd: initrd, Cmdline: line + " ferrite.media=0",
		Overlay: files}, nil
}

// MediumSettings are the kernel words for the agent of n, which boots from a medium that may have others.
func (p *Policy) MediumSettings(ctx context.Context, n node.Node) (string, error) {
	if p.Engine.Held() {
		return "", node.Refuse(node.Busy, "This conductor was restored from a backup and boots no machine yet.")
	}
	return p.mediumLine(ctx, n)
}

// mediumLine is the kernel line of an agent on a medium.
func (p *Policy) mediumLine(ctx context.Context, n node.Node) (string, error) {
	word, err := p.Engine.BootWord(ctx, n.UUID)
	if err != nil {
		return "", fmt.Errorf("one-time token of this boot: %w", err)
	}
	mac, err := p.bootPort(ctx, n)
	if err != nil {
		return "", err
	}
	return p.cmdline(n, mac, word) + " boot_method=vmedia", nil
}

// bootPort is the address of the first port of n that is for booting; nil for none.
func (p *Policy) bootPort(ctx context.Context, n node.Node) (net.HardwareAddr, error) {
	ports, err := p.Engine.Store.Ports(ctx, node.PortQuery{NodeUUID: n.UUID})
	if err != nil {
		return nil, fmt.Errorf("ports of node %s: %w", n.UUID, err)
	}
	for _, port := range ports {
		if port.PXEEnabled {
			return net.ParseMAC(port.Address)
		}
	}
	return nil, nil
}

// noRamdisk says that nothing is there to boot.
func noRamdisk(n node.Node) error {
	return fmt.Errorf("node %s is to boot a ramdisk, but none is configured: start the conductor with "+
		"--ramdisk, or set driver_info deploy_kernel and deploy_ramdisk", n.UUID)
}
