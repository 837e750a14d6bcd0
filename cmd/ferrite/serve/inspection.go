package serve

import "github.com/ferrite-metal/ferrite/conductor/plan"

func (c *Config) inspectionFlags(s *settings) {
	s.wordVar(func(w string) { c.Inspection.AddPorts = w }, "inspection-add-ports", plan.LinkedPorts,
		"interfaces that become ports: linked (of a node without ports, its boot interface and those with carrier), or as "+
			"in Ironic of any node: all, active (with an IP address), pxe (the boot interface) or disabled",
		plan.PortsToAdd()...)
	s.wordVar(func(w string) { c.Inspection.KeepPorts = w }, "inspection-keep-ports", "all",
		"ports that stay: all, present (of interfaces that the inspection found) or added (of those that "+
			"--inspection-add-ports chooses); others are deleted, except ports with a VIF or in a port group",
		plan.PortsToKeep()...)
	s.BoolVar(&c.Inspection.UpdatePXE, "inspection-update-pxe-enabled", false,
		"set pxe_enabled of the port that the machine was booted from, and unset it of its others")
	const aliases, networks = "pci-device-alias", "physical-network-cidr-map"
	listVar(s, &c.Inspection.PCIAliases, aliases, s.StringArray(aliases, nil,
		"`object` that names PCI devices, to count them in a capability of the node, as "+
			`{"vendor_id": "10de", "product_id": "2331", "name": "h100"}`+
			"; repeat the flag, or separate objects by ; in the environment"), plan.ParsePCIAliases)
	listVar(s, &c.Inspection.PhysicalNetworks, networks, s.StringSlice(networks, nil,
		"physical networks of ports by the addresses of their interfaces, as `subnet:name`,..., such as "+
			"10.10.10.0/24:physnet_a; the first that fits counts"), plan.ParsePhysicalNetworks)
}
