package host

import (
	"maps"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// enrolled is a new node for the host. One that has an instance already is told
// of it, so that it can be adopted.
func (d *decision) enrolled(w nodeSpec) node.Node {
	n := node.Node{Driver: w.hardwareType, Interfaces: map[string]string{}}
	maps.Copy(n.Interfaces, w.interfaces)
	d.setInspect(&n, w.access)
	d.configure(&n, w)
	if image, custom := d.runningInstance(); image != nil || custom != nil {
		d.setInstance(&n, w.access, image, custom)
	}
	return n
}

// configure says in a node what the document says of its machine, whatever is
// done with it.
func (d *decision) configure(n *node.Node, w nodeSpec) {
	n.Name = hostapi.NodeName(d.h.Namespace, d.h.Name)
	if n.Driver != w.hardwareType {
		n.Driver, n.Interfaces = w.hardwareType, maps.Clone(w.interfaces)
	}
	info := w.driverInfo(w.login)
	for key, value := range n.DriverInfo {
		if _, said := info[key]; !said && !ours(key) {
			info[key] = value
		}
	}
	n.DriverInfo = info
	n.DisablePowerOff = d.h.Spec.DisablePowerOff
	clean := d.h.Spec.AutomatedCleaningMode != hostapi.CleaningDisabled
	n.AutomatedClean = &clean
	if w.preboot != nil {
		n.NetworkData = w.preboot
	}
	if n.Properties == nil {
		n.Properties = map[string]any{}
	}
	caps, _ := n.Properties["capabilities"].(string)
	n.Properties["capabilities"] = capabilities(caps, d.h.Status.Provisioning.BootMode)
	if arch := d.architecture(); arch != "" {
		n.Properties["cpu_arch"] = arch
	}
}

// setInspect chooses who looks at the machine.
func (d *decision) setInspect(n *node.Node, a access) {
	name := "agent"
	switch {
	case d.h.Spec.InspectionMode == hostapi.InspectionFast:
		name = a.fast
	case a.deploy == "fake":
		name = "fake"
	}
	setInterface(n, "inspect", name)
}

// setInterface chooses an implementation, in a map of the node's own.
func setInterface(n *node.Node, kind, name string) {
	all := map[string]string{}
	maps.Copy(all, n.Interfaces)
	all[kind] = name
	n.Interfaces = all
}

// runningInstance is what the machine runs, or is being given.
func (d *decision) runningInstance() (image *hostapi.Image, custom *hostapi.CustomDeploy) {
	p := d.h.Status.Provisioning
	if p.Image != nil && p.Image.URL != "" || p.CustomDeploy != nil {
		return p.Image, p.CustomDeploy
	}
	switch d.state() {
	case hostapi.StateProvisioning, hostapi.StateExternallyProvisioned:
		return d.h.Spec.Image, d.h.Spec.CustomDeploy
	default:
		return nil, nil
	}
}
