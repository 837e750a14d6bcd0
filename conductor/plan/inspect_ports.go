package plan

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Inspection is the settings of the use of inspection data, which Ironic has in [inspector]. The zero value adds ports
// as LinkedPorts, and changes nothing else.
type Inspection struct {
	AddPorts         string            // the interfaces that become ports: one of PortsToAdd; "" is LinkedPorts
	KeepPorts        string            // the ports that stay: one of PortsToKeep; "" is all
	UpdatePXE        bool              // pxe_enabled follows the interface that the machine was booted from
	PCIAliases       []PCIAlias        // counted in the capabilities
	PhysicalNetworks []PhysicalNetwork // of ports, the first that has the address counts
}

// LinkedPorts adds ports to a node that has none: its boot interface, and interfaces with carrier. Ironic has no such
// word.
const LinkedPorts = "linked"

// PortsToAdd are the words of AddPorts.
func PortsToAdd() []string { return []string{LinkedPorts, "all", "active", "pxe", "disabled"} }

// PortsToKeep are the words of KeepPorts.
func PortsToKeep() []string { return []string{"all", "present", "added"} }

// portsFound adds, drops and changes ports by the data of an inspection.
func (d *decision) portsFound(data agentapi.Inspection) {
	s := d.f.Settings.Inspection
	d.addPorts(data, s.AddPorts)
	d.dropPorts(data, s)
	ports := d.allPorts()
	if s.UpdatePXE {
		d.updatePXE(ports, bootOf(data))
	}
	d.setPhysicalNetworks(ports, data.Inventory.Interfaces, s.PhysicalNetworks)
	d.takePorts(ports)
}

// becomesPort reports whether AddPorts chooses an interface; boot is the address of the boot interface, ""
// for unknown.
func becomesPort(add string, i agentapi.Interface, mac, boot string) bool {
	switch add {
	case "all":
		return true
	case "active":
		return i.IPv4Address != "" || i.IPv6Address != ""
	case "pxe":
		return boot == "" || mac == boot
	case "disabled":
		return false
	}
	return mac == boot || i.HasCarrier
}

// addPorts makes ports of the interfaces without a port that add chooses. It skips an address of another node's port,
// and an address that is not Ethernet. With LinkedPorts a node that has ports gets no others: inspection data are
// claims of one boot, but a port is trusted at every later boot. The history lists these interfaces, so that the
// operator can create the correct ports.
func (d *decision) addPorts(data agentapi.Inspection, add string) {
	var unconfirmed []string
	defer func() { d.noteUnconfirmed(unconfirmed) }()
	known := map[string]bool{}
	for _, p := range d.f.Ports {
		known[p.Address] = true
	}
	boot := bootOf(data)
	for _, i := range data.Inventory.Interfaces {
		mac, ok := ethernet(i.MACAddress)
		if !ok || known[mac] || !becomesPort(add, i, mac, boot) {
			continue
		}
		known[mac] = true
		if d.f.Taken[mac] {
			d.note("WARNING", fmt.Sprintf("interface %s is made no port: its address %s is another node's", i.Name, mac))
			continue
		}
		if len(d.f.Ports) > 0 && cmp.Or(add, LinkedPorts) == LinkedPorts {
			unconfirmed = append(unconfirmed, strings.TrimSpace(i.Name+" "+mac))
			continue
		}
		d.ports = append(d.ports, node.Port{NodeUUID: d.n.UUID, Address: mac, PXEEnabled: boot == "" || mac == boot,
			CreatedAt: d.now})
	}
}

// noteUnconfirmed records interfaces that did not become ports.
func (d *decision) noteUnconfirmed(list []string) {
	if len(list) == 0 {
		return
	}
	shown := strings.Join(list[:min(len(list), 8)], ", ")
	if more := len(list) - 8; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	d.note("WARNING",
		fmt.Sprintf("inspection found interfaces that are not made ports, since the node has ports already and no "+
			"operator has "+
			"confirmed these: %s; create the ports of those that are the machine's (baremetal port create --node %s ADDRESS)",
			shown, d.n.UUID))
}

// dropPorts deletes the ports that KeepPorts does not keep. Data without any address to keep are taken for incomplete,
// as by Ironic. Ports that a network needs stay.
func (d *decision) dropPorts(data agentapi.Inspection, s Inspection) {
	keep := map[string]bool{}
	for _, i := range data.Inventory.Interfaces {
		mac, ok := ethernet(i.MACAddress)
		if ok && (s.KeepPorts == "present" || s.AddPorts == "disabled" || becomesPort(s.AddPorts, i, mac, bootOf(data))) {
			keep[mac] = true
		}
	}
	if cmp.Or(s.KeepPorts, "all") == "all" || len(keep) == 0 {
		return
	}
	d.f.Ports = slices.DeleteFunc(slices.Clone(d.f.Ports), func(p node.Port) bool {
		if keep[p.Address] {
			return false
		}
		if need := neededBy(p); need != "" {
			d.note("WARNING", fmt.Sprintf("port %s is to go (--inspection-keep-ports %s), but stays because of %s", p.Address,
				s.KeepPorts, need))
			return false
		}
		d.note("INFO", fmt.Sprintf("port %s is deleted (--inspection-keep-ports %s)", p.Address, s.KeepPorts))
		d.dropped = append(d.dropped, p.UUID)
		return true
	})
}

// neededBy names the use of a port that a deletion would leave behind; "" for none.
func neededBy(p node.Port) string {
	switch _, ramdisk := RamdiskPorts(p); {
	case p.VIF() != "":
		return "its VIF " + p.VIF()
	case p.PortgroupUUID != "":
		return "its port group " + p.PortgroupUUID
	case ramdisk:
		return "its port in the network of the ramdisk"
	}
	return ""
}

// updatePXE sets pxe_enabled of the port that the machine was booted from, and unsets it of the others. Without such a
// port all stay as they are, since the node could no longer be booted.
func (d *decision) updatePXE(ports []node.Port, boot string) {
	at := slices.IndexFunc(ports, func(p node.Port) bool { return boot != "" && p.Address == boot })
	switch {
	case len(ports) == 0:
		return
	case at < 0:
		d.note("WARNING", fmt.Sprintf("pxe_enabled of the ports stays: the interface that the machine was booted from is "+
			"%s, and no port has its address", cmp.Or(boot, "unknown")))
		return
	case ports[at].PortgroupUUID != "" && !ports[at].PXEEnabled:
		d.note("WARNING", fmt.Sprintf("pxe_enabled of the ports stays: the machine was booted from port %s, which is in "+
			"port group %s", boot, ports[at].PortgroupUUID))
		return
	}
	for i := range ports {
		ports[i].PXEEnabled = i == at
	}
}

// bootOf is the address of the interface that the ramdisk was booted from; "" for unknown.
func bootOf(data agentapi.Inspection) string {
	return cmp.Or(bootMAC(data.BootInterface), bootMAC(data.Inventory.Boot.PXEInterface))
}

// bootMAC reads BOOTIF, which PXELINUX prefixes with the hardware type and
// writes with dashes ("01-52-54-..."), and iPXE may write plainly.
func bootMAC(bootif string) string {
	s := strings.ToLower(strings.ReplaceAll(bootif, "-", ":"))
	if len(s) == len("01:00:00:00:00:00:00") {
		s = s[3:]
	}
	if _, err := net.ParseMAC(s); err != nil {
		return ""
	}
	return s
}
