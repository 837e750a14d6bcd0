package hardware

import (
	"cmp"
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Hardware sends the requests of operators to BMCs at once, without an effect.
type Hardware struct{ *core.Core }

// driver returns a node and its BMC driver.
func (e *Hardware) driver(ctx context.Context, ref string) (node.Node, core.BMC, error) {
	n, err := e.Node(ctx, ref)
	if err != nil {
		return n, nil, err
	}
	bmc, ok := e.BMCs[n.Driver]
	if !ok {
		return n, nil, node.Refuse(node.Invalid, "hardware type %q of node %s is not enabled on %s", n.Driver, n.UUID,
			e.ConductorName())
	}
	return n, bmc, nil
}

// BootDevice asks the BMC for the device that the machine will boot from.
func (e *Hardware) BootDevice(ctx context.Context, ref string) (device string, persistent bool, err error) {
	n, bmc, err := e.driver(ctx, ref)
	if err != nil {
		return "", false, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.Patience(n).Call)
	defer cancel()
	device, persistent, err = bmc.BootDevice(ctx, n)
	return device, persistent, core.BmcFault(err)
}

// SetBootDevice sets the device that the machine boots from: once, or persistently.
func (e *Hardware) SetBootDevice(ctx context.Context, ref, device string, persistent bool) error {
	n, err := e.Free(ctx, ref)
	if err != nil {
		return err
	}
	_, bmc, err := e.driver(ctx, n.UUID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, e.Patience(n).Call)
	defer cancel()
	set, err := core.SetBootDevice(ctx, bmc, n, plan.BootDeviceArgs{Device: device, Persistent: persistent})
	if err != nil {
		return core.BmcFault(err)
	}
	if !set.Once && plan.OnceDevice(n) == "" {
		return nil
	}
	_, err = e.Act(ctx, n.UUID, set)
	return err
}

// SupportedBootDevices lists the devices that SetBootDevice accepts for this node.
func (e *Hardware) SupportedBootDevices(ctx context.Context, ref string) ([]string, error) {
	n, bmc, err := e.driver(ctx, ref)
	if err != nil {
		return nil, err
	}
	return bmc.SupportedBootDevices(n), nil
}

// InjectNMI sends the machine a non-maskable interrupt, which makes most
// operating systems write a dump.
func (e *Hardware) InjectNMI(ctx context.Context, ref string) error {
	n, bmc, err := findFree[core.Interrupter](ctx, e, ref, "management", "inject_nmi")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, e.Patience(n).Call)
	defer cancel()
	return core.BmcFault(bmc.InjectNMI(ctx, n))
}

// Validate returns for each interface kind the error in its configuration; nil is valid. It sends no request to a BMC.
func (e *Hardware) Validate(ctx context.Context, ref string) (map[string]error, error) {
	n, bmc, err := e.driver(ctx, ref)
	if err != nil {
		return nil, err
	}
	out := map[string]error{}
	for kind := range n.Interfaces {
		out[kind] = nil
	}
	configured := bmc.Validate(n)
	out["power"], out["management"] = configured, configured
	if configured == nil {
		out["management"] = e.CheckCleaning(ctx, n)
	}
	if out["boot"] = plan.CheckBootFiles(n); out["boot"] == nil {
		out["boot"] = plan.CheckSecureBoot(n, n.SecureBoot)
	}
	ports, err := e.Store.Ports(ctx, node.PortQuery{NodeUUID: n.UUID})
	if err != nil {
		return nil, err
	}
	out["network"] = cmp.Or(plan.CheckNetwork(n, ports, e.Settings, "deploy"),
		plan.CheckNetwork(n, ports, e.Settings, "clean"))
	if out["deploy"] = plan.CheckInstance(n); out["deploy"] == nil {
		// false: a caller with read access must not start a fetch
		_, out["deploy"] = e.CheckImageFor(ctx, n, core.ProjectOf(ctx), false)
	}
	if out["deploy"] == nil {
		out["deploy"] = cmp.Or(plan.CheckInstanceTraits(n), e.CheckTemplates(ctx, n))
	}
	if consoles, ok := bmc.(core.Consoles); ok && !n.Off("console") {
		out["console"] = consoles.ValidateConsole(n)
	}
	return out, nil
}
