package translate

import (
	"cmp"
	"maps"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// NodeSpec has the settings for a node: access to its BMC, the login, and its ramdisk's network.
type NodeSpec struct {
	Access
	Login
	Preboot map[string]any // the network of its ramdisk; nil for none
}

// NewNode is a new node for the host. If the host has an
// instance, the node has it too, so that it can be adopted.
func (s Source) NewNode(w NodeSpec) node.Node {
	n := node.Node{Driver: w.hardwareType, Interfaces: map[string]string{}}
	maps.Copy(n.Interfaces, w.interfaces)
	s.SetInspect(&n, w.Access)
	s.Configure(&n, w)
	if image, custom := s.runningInstance(); image != nil || custom != nil {
		s.SetInstance(&n, w.Access, image, custom)
	}
	return n
}

// Configure writes the document's settings of the machine into a node, independent of the next act.
func (s Source) Configure(n *node.Node, w NodeSpec) {
	n.Name = hostapi.NodeName(s.Host.Namespace, s.Host.Name)
	if n.Driver != w.hardwareType {
		n.Driver, n.Interfaces = w.hardwareType, maps.Clone(w.interfaces)
	}
	info := w.driverInfo(w.Login)
	for key, value := range n.DriverInfo {
		if _, said := info[key]; !said && !ours(key) {
			info[key] = value
		}
	}
	n.DriverInfo = info
	n.DisablePowerOff = s.Host.Spec.DisablePowerOff
	clean := s.Host.Spec.AutomatedCleaningMode != hostapi.CleaningDisabled
	n.AutomatedClean = &clean
	if w.Preboot != nil {
		n.NetworkData = w.Preboot
	}
	if n.Properties == nil {
		n.Properties = map[string]any{}
	}
	caps, _ := n.Properties["capabilities"].(string)
	n.Properties["capabilities"] = capabilities(caps, s.Host.Status.Provisioning.BootMode)
	if arch := s.architecture(); arch != "" {
		n.Properties["cpu_arch"] = arch
	}
}

// SetInspect chooses the inspect interface.
func (s Source) SetInspect(n *node.Node, a Access) {
	name := "agent"
	switch {
	case s.Host.Spec.InspectionMode == hostapi.InspectionFast:
		name = a.Fast
	case a.deploy == "fake":
		name = "fake"
	}
	SetInterface(n, "inspect", name)
}

// SetInterface chooses an implementation, in a map of the node's own.
func SetInterface(n *node.Node, kind, name string) {
	all := map[string]string{}
	maps.Copy(all, n.Interfaces)
	all[kind] = name
	n.Interfaces = all
}

// runningInstance is the workload that the machine runs, or is given.
func (s Source) runningInstance() (image *hostapi.Image, custom *hostapi.CustomDeploy) {
	p := s.Host.Status.Provisioning
	if p.Image != nil && p.Image.URL != "" || p.CustomDeploy != nil {
		return p.Image, p.CustomDeploy
	}
	switch s.Host.Status.Provisioning.State {
	case hostapi.StateProvisioning, hostapi.StateExternallyProvisioned:
		return s.Host.Spec.Image, s.Host.Spec.CustomDeploy
	default:
		return nil, nil
	}
}

// architecture is the processor of the machine as far as known, or "".
func (s Source) architecture() string {
	if hw := s.Host.Status.Hardware; hw != nil {
		return cmp.Or(s.Host.Spec.Architecture, hw.CPU.Arch)
	}
	return s.Host.Spec.Architecture
}
