package ipmi

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Steps lists ipmi's only step, send_raw, with Ironic's argument and frameworks. It is refused where raw commands are
// off.
func (d *Driver) Steps(node.Node) []node.StepOffer {
	raw := node.StepOffer{Interface: "vendor", Step: "send_raw", NeedsNoRamdisk: true,
		Priority: map[node.Framework]int{node.CleanSteps: 0, node.DeploySteps: 0, node.ServiceSteps: 0},
		Args: map[string]node.StepArg{"raw_bytes": {Required: true, Description: "A string of raw bytes to send to the BMC " +
			"(e.g. '0x00 0x01'); sent again if the conductor ends in the middle"}}}
	if !d.o.SendRaw {
		raw.Refusal = rawOff
	}
	return []node.StepOffer{raw}
}

// DoStep sends the bytes of send_raw.
func (d *Driver) DoStep(ctx context.Context, n node.Node, s node.Step, _ string) (node.StepReport, error) {
	if s.String() != "vendor.send_raw" {
		return node.StepReport{}, node.Refuse(node.Invalid, "ipmi has no step %s: it has vendor.send_raw", s)
	}
	if err := d.CheckVendor(ctx, n, s.Step, s.Args); err != nil {
		return node.StepReport{}, err
	}
	if _, err := d.CallVendor(ctx, n, s.Step, s.Args); err != nil {
		return node.StepReport{}, err
	}
	return node.StepReport{Done: true, Note: "the BMC took the raw command"}, nil
}
