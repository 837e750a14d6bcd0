// Package bootpolicy answers the boot service's question from node state: the
// only bridge between pxe, which knows no nodes, and the engine, which knows
// no packets.
//
// It keeps its last answers for a moment, and decides nothing about a node's
// life: whether a machine gets the ramdisk follows from the plan the node is in.
package bootpolicy

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/localfile"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/pxe"
)

// Policy is a pxe.Booter and a pxe.Leases over an engine.
type Policy struct {
	Engine *engine.Engine
	Log    *slog.Logger
	Kernel string // the ramdisk of nodes that name none: a local path
	Initrd string
	ByArch map[string]Files // others, by cpu_arch of a node's properties
	APIURL string           // where agents find the API, e.g. http://10.0.0.1:6385
	Append string           // kernel parameters that every ramdisk gets
	// Local is the folders of files that nodes may name as their own ramdisks. An editor of a node must not have other
	// files of this host served.
	Local localfile.Folders
	// Pins names the API's certificate, as SHA-256 in hexadecimal, to agents that
	// could not know it otherwise; nil when the API has none.
	Pins func() []string
	// Images finds the boot files of nodes by name; nil where no images are kept.
	Images NamedImages

	looked lookUps
}

// Files are the kernel and the initramfs of a ramdisk.
type Files struct{ Kernel, Initrd string }

// NamedImages finds images by name: the URL of an ISO, or the path of a kernel or ramdisk.
type NamedImages interface {
	ISOURL(ctx context.Context, n node.Node, source string) (string, error)
	BootFile(ctx context.Context, n node.Node, source string) (string, error)
}

// Boot answers a machine. A machine without a known port is ignored, or inspected where
// discovery is on.
func (p *Policy) Boot(ctx context.Context, c pxe.Client) (boot pxe.Boot, err error) {
	if p.Engine.Held() { // a ramdisk, or a workload, of a time that is past
		return pxe.Boot{Action: pxe.Address, Why: pxe.ReasonHeld, Stranger: true}, nil
	}
	l, err := p.lookUp(ctx, c)
	return l.boot, err
}

// boot answers the machine of a node.
func (p *Policy) boot(ctx context.Context, c pxe.Client, n node.Node, port node.Port) (boot pxe.Boot, err error) {
	// Anybody can have such a node made, with ports of any name.
	defer func() { boot.Stranger, boot.Owner = plan.Undecided(n), n.Owner }()
	switch {
	case !port.PXEEnabled:
		return pxe.Boot{Action: pxe.Address, Why: pxe.ReasonOtherPort}, nil
	case plan.BootsByMedium(n):
		return pxe.Boot{Action: pxe.Address, Why: pxe.ReasonMedium}, nil
	}
	if c.Script {
		if n, err = p.Engine.ScriptAsked(ctx, n, c.IP, c.Lent); err != nil {
			return pxe.Boot{}, fmt.Errorf("take note of this boot: %w", err)
		}
	}
	if !c.Files && p.Images != nil {
		p = p.unfetched()
	}
	if own, ok := plan.BootsInstance(n); ok {
		return p.instance(ctx, n, own)
	}
	if !plan.WantsRamdisk(n) {
		return pxe.Boot{Action: pxe.Address, Why: pxe.ReasonNotToBoot}, nil
	}
	kernel, initrd, err := p.ramdisk(ctx, n)
	if err != nil {
		return pxe.Boot{}, err
	}
	if kernel == "" || initrd == "" {
		return pxe.Boot{}, noRamdisk(n)
	}
	word := ""
	if c.Script {
		if word, err = p.Engine.BootWord(ctx, n.UUID); err != nil {
			return pxe.Boot{}, fmt.Errorf("one-time token of this boot: %w", err)
		}
	}
	files, err := overlay(n)
	if err != nil {
		return pxe.Boot{}, fmt.Errorf("network_data of node %s for its ramdisk: %w", n.UUID, err)
	}
	return pxe.Boot{Action: pxe.Ramdisk, Kernel: kernel, Initrd: initrd, Cmdline: p.cmdline(n, c.MAC, word),
		Overlay: files}, nil
}

// stranger is the answer to a machine that is not enrolled. Its ramdisk gets only the URL for inspection data to report
// to.
func (p *Policy) stranger(c pxe.Client) pxe.Boot {
	switch {
	case !p.Engine.Discovers():
		return pxe.Boot{Action: pxe.Ignore, Why: pxe.ReasonUnknown}
	case p.Kernel == "" || p.Initrd == "":
		return pxe.Boot{Action: pxe.Ignore, Why: pxe.ReasonNoRamdisk}
	}
	boot := pxe.Boot{Action: pxe.Ramdisk, Kernel: p.Kernel, Initrd: p.Initrd, Stranger: true}
	if c.Script {
		words := append([]string{"BOOTIF=" + c.MAC.String()}, p.inspection("")...)
		boot.Cmdline = p.finish(words, p.Append)
	}
	return boot
}

// instance boots the machine's workload.
func (p *Policy) instance(ctx context.Context, n node.Node, b plan.InstanceBoot) (pxe.Boot, error) {
	for _, part := range []struct {
		at   *string
		find func(NamedImages, context.Context, node.Node, string) (string, error)
	}{{&b.ISO, NamedImages.ISOURL}, {&b.Kernel, NamedImages.BootFile}, {&b.Ramdisk, NamedImages.BootFile}} {
		if !node.KeptImage(*part.at) || p.Images == nil {
			continue
		}
		found, err := part.find(p.Images, ctx, n, *part.at)
		if err != nil {
			return pxe.Boot{}, fmt.Errorf("%s of node %s: %w", *part.at, n.UUID, err)
		}
		*part.at = found
	}
	if b.ISO != "" {
		return pxe.Boot{Action: pxe.Image, ImageURL: b.ISO}, nil
	}
	// As in Ironic: its boot media have ramdisk_kernel_arguments alone.
	if n.InstanceInfo["kernel_append_params"] != nil && !plan.BootsByMedium(n) {
		b.Cmdline = strings.TrimSpace(p.appended(n) + " " + b.Cmdline)
	}
	return pxe.Boot{Action: pxe.Ramdisk, Kernel: b.Kernel, Initrd: b.Ramdisk, Cmdline: b.Cmdline}, nil
}

// ramdisk prefers the node's own kernel and ramdisk to the conductor's of its architecture, and those to the
// conductor's. A rescue may have a pair of its own.
func (p *Policy) ramdisk(ctx context.Context, n node.Node) (kernel, initrd string, err error) {
	if err := plan.CheckBootFiles(n); err != nil {
		return "", "", err
	}
	kernelKey, initrdKey := "deploy_kernel", "deploy_ramdisk"
	if plan.Rescuing(n) && n.DriverInfo["rescue_kernel"] != nil {
		kernelKey, initrdKey = "rescue_kernel", "rescue_ramdisk"
	}
	k, _ := n.DriverInfo[kernelKey].(string)
	r, _ := n.DriverInfo[initrdKey].(string)
	if k == "" || r == "" {
		arch, _ := n.Properties["cpu_arch"].(string)
		if files, ok := p.ByArch[arch]; ok {
			return files.Kernel, files.Initrd, nil
		}
		return p.Kernel, p.Initrd, nil
	}
	if kernel, err = p.source(ctx, n, kernelKey, k); err == nil {
		initrd, err = p.source(ctx, n, initrdKey, r)
	}
	return kernel, initrd, err
}

// source is where a file is that a node names in driver_info: a URL, a named image, one of
// Glance, or a file that is open to nodes.
func (p *Policy) source(ctx context.Context, n node.Node, key, named string) (string, error) {
	if node.KeptImage(named) && p.Images != nil {
		file, err := p.Images.BootFile(ctx, n.OfOwner(), named)
		if err != nil {
			return "", fmt.Errorf("node %s: driver_info/%s: %w", n.UUID, key, err)
		}
		return file, nil
	}
	if strings.HasPrefix(named, "http://") || strings.HasPrefix(named, "https://") {
		return named, nil
	}
	file, err := p.Local.Find(named)
	if err != nil {
		return "", fmt.Errorf("node %s: driver_info/%s is %q: %w; give an http(s) URL, image:NAME, or a file that nodes may "+
			"name", n.UUID,
			key, named, err)
	}
	return file, nil
}

// appended has the kernel parameters of a node: of its instance, else its own, else the conductor's, in Ironic's order.
// %default% in either stands for the conductor's. An empty text is no parameters.
//
// Cleaning and inspection are the owner's, and not the instance's. A lessee writes instance_info, and would have the
// owner's ramdisk call another conductor, or take an SSH key.
func (p *Policy) appended(n node.Node) string {
	of := []any{n.InstanceInfo["kernel_append_params"], n.DriverInfo["kernel_append_params"]}
	if n.Run != nil && (n.Run.Activity == "clean" || n.Run.Activity == "inspect") {
		of = of[1:]
	}
	for _, own := range of {
		if line, ok := own.(string); ok {
			return strings.ReplaceAll(line, "%default%", p.Append)
		}
	}
	return p.Append
}

// cmdline is the kernel command line for ironic-python-agent and for our agent. The boot's one-time token is the token
// of ironic-python-agent; our agent exchanges it for a token.
func (p *Policy) cmdline(n node.Node, mac net.HardwareAddr, word string) string {
	appended := p.appended(n)
	words := []string{"ipa-api-url=" + p.APIURL}
	if mac != nil {
		words = append(words, "BOOTIF="+mac.String())
	}
	if word != "" {
		words = append(words, "ipa-agent-token="+word)
	}
	if plan.Inspecting(n) {
		words = append(words, p.inspection(word)...)
	}
	return p.finish(words, appended)
}

// inspection has the parameters that make a ramdisk inspect the machine first.
func (p *Policy) inspection(word string) []string {
	callback := p.APIURL + agentapi.ContinueInspectionPath
	if word != "" {
		callback += "?" + agentapi.BootWordParameter + "=" + word
	}
	return []string{"ipa-inspection-callback-url=" + callback, "ipa-inspection-collectors=default,pci-devices"}
}

// finish adds the parameters that every ramdisk gets.
func (p *Policy) finish(words []string, appended string) string {
	words = append(words, agentapi.PanicWord)
	if p.Pins != nil {
		words = append(words, "ferrite-api-sha256="+strings.Join(p.Pins(), ","))
	}
	if appended != "" {
		words = append(words, appended)
	}
	return strings.Join(words, " ")
}

// otherPort is the boot stage for firmware that boots from a port which is not for booting. The machine gets an
// address, but no ramdisk.
const otherPort = "boot requested by another port"

// Reached takes note of a boot stage.
func (p *Policy) Reached(ctx context.Context, c pxe.Client, s pxe.Stage) {
	name, detail := string(s), c.Detail
	l, err := p.lookUp(ctx, pxe.Client{MAC: c.MAC})
	if l.node == "" { // it is not enrolled
		if err != nil {
			p.Log.Warn("boot stage not noted", "mac", c.MAC.String(), "stage", s, "err", err)
		}
		return
	}
	if l.otherPort && c.Firmware != pxe.System {
		name, detail = otherPort,
			fmt.Sprintf("%s, whose pxe_enabled is false: set it true, or have the firmware boot from a port of which it is",
				c.MAC)
	}
	p.Engine.BootStage(l.node, name, detail)
}
