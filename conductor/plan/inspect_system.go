package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/lldp"
)

// Keys in the plugin data for a BMC's data without a place in Ironic's inventory.
const (
	memoryModules = "ferrite_memory_modules" // []node.MemoryModule
	volumes       = "ferrite_volumes"        // []node.Volume
	incomplete    = "ferrite_incomplete"     // []string: kinds of parts that the BMC could not list, and why
)

// readSystem asks the BMC for all that it knows of the machine.
const readSystem = "inspect.read_system"

// systemRead stores the BMC's report of the machine (inspect interface redfish): properties, and an inventory of the
// reported parts.
func (d *decision) systemRead(s node.System) {
	data := d.inspectionOf(s)
	d.learn(data)
	if gb := s.Parts.LocalGB(); gb > 0 {
		d.n.Properties["local_gb"] = gb
	}
	if s.BootMode != "" {
		d.setInternal(inspectedBootMode, d.n.BootMode)
	}
	ports := data
	ports.Inventory.Interfaces = linked(data.Inventory.Interfaces)
	d.portsFound(ports)
	switches := readSwitchData(data)
	d.link(d.allPorts(), switches)
	raw, err := json.Marshal(data.Inventory)
	if err != nil {
		raw = json.RawMessage("{}")
	}
	made := besideParts(pluginDataOf(data), s.Parts)
	d.inspected = &node.Inspected{Inventory: raw, PluginData: beside(nil, made, switches)}
	if n := len(s.Parts.Incomplete); n > 0 {
		d.note("WARNING",
			Clip(fmt.Sprintf("the BMC could not list all parts of the machine (%d notes in the plugin data): %s",
				n, s.Parts.Incomplete[0])))
	}
}

// inspectionOf is the report in the form in which a ramdisk sends one.
func (d *decision) inspectionOf(s node.System) agentapi.Inspection {
	mode := s.BootMode
	if mode != "" {
		mode = cmp.Or(believed(d.n, mode), d.n.BootMode)
	}
	p := s.Parts
	memory := s.MemoryMB
	for i := range p.Memory {
		if s.MemoryMB == 0 && !p.Memory[i].Disabled {
			memory += p.Memory[i].MB
		}
	}
	out := agentapi.Inspection{Inventory: agentapi.Inventory{
		CPU:    agentapi.CPU{Count: s.CPUs, Architecture: s.Architecture, ModelName: p.CPUModel, SocketCount: p.Sockets},
		Memory: agentapi.Memory{PhysicalMB: memory, Total: memory << 20},
		SystemVendor: agentapi.SystemVendor{ProductName: s.Model, SerialNumber: s.Serial, Manufacturer: s.Manufacturer,
			Firmware: agentapi.Firmware{Version: s.BIOSVersion}, SystemUUID: s.UUID},
		Boot: agentapi.BootInfo{CurrentBootMode: mode}, Interfaces: cardsOf(s), Disks: disksOf(p),
		StorageControllers: p.Controllers,
	}}
	if p.CPUMHz > 0 {
		out.Inventory.CPU.Frequency = fmt.Sprint(p.CPUMHz)
	}
	for _, f := range p.PCI {
		out.PCIDevices = append(out.PCIDevices, agentapi.PCIDevice{VendorID: f.Vendor, ProductID: f.Product, Class: f.Class,
			Revision: f.Revision, Bus: f.Bus})
	}
	return out
}

// cardsOf returns all network cards of the machine: the cards of its parts, then the addresses of the system without a
// card. If the BMC does not report the link of a card, it counts as linked if the system lists its address. An address
// without a card counts as linked.
func cardsOf(s node.System) (all []agentapi.Interface) {
	known, named := map[string]bool{}, map[string]bool{}
	for _, c := range s.Parts.Cards {
		known[c.MAC], named[c.Name] = true, true
		link := slices.Contains(s.MACs, c.MAC)
		if c.Link != nil {
			link = *c.Link
		}
		card := agentapi.Interface{Name: c.Name, MACAddress: c.MAC, HasCarrier: link, SpeedMbps: c.SpeedMbps,
			Product: c.Description}
		if len(c.Switch) > 0 {
			card.LLDP = lldp.Wire(c.Switch)
		}
		all = append(all, card)
	}
	for i, mac := range s.MACs {
		if known[mac] {
			continue
		}
		name := fmt.Sprintf("nic%d", i+1)
		for i := len(s.MACs) + 1; named[name]; i++ {
			name = fmt.Sprintf("nic%d", i)
		}
		known[mac], named[name] = true, true
		all = append(all, agentapi.Interface{Name: name, MACAddress: mac, HasCarrier: true})
	}
	return all
}

// linked are interfaces that become ports without carrier, too: Ironic makes a port of each that a BMC reports.
func linked(all []agentapi.Interface) []agentapi.Interface {
	out := slices.Clone(all)
	for i := range out {
		out[i].HasCarrier = true
	}
	return out
}

func disksOf(p node.Parts) []agentapi.Disk {
	all := []agentapi.Disk{}
	for _, d := range p.Disks {
		all = append(all, agentapi.Disk{Name: d.Name, Model: d.Model, Vendor: d.Vendor, Serial: d.Serial, Size: d.Bytes,
			Rotational: d.Rotational, Transport: d.Transport, WWN: d.WWN})
	}
	return all
}

// besideParts adds to the plugin data the parts without a place in the inventory.
func besideParts(raw json.RawMessage, p node.Parts) json.RawMessage {
	var doc map[string]any
	if json.Unmarshal(raw, &doc) != nil {
		return raw
	}
	if len(p.Memory) > 0 {
		doc[memoryModules] = p.Memory
	}
	if len(p.Volumes) > 0 {
		doc[volumes] = p.Volumes
	}
	if len(p.Incomplete) > 0 {
		doc[incomplete] = p.Incomplete
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return raw
	}
	return out
}
