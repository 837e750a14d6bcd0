package translate

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// plugins are the parts of an inspection that are read beside the inventory.
type plugins struct {
	Interfaces map[string]struct {
		PXE bool `json:"pxe_enabled"`
	} `json:"all_interfaces"`
	LLDP map[string]neighbor `json:"parsed_lldp"`
}

// neighbor has a switch's LLDP data, in the words of Ironic's hook parse-lldp.
type neighbor struct {
	Chassis  string `json:"switch_chassis_id"`
	Port     string `json:"switch_port_id"`
	System   string `json:"switch_system_name"`
	Untagged int    `json:"switch_port_untagged_vlan_id"`
	VLANs    []struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	} `json:"switch_port_vlans"`
}

// Hardware turns an inspection into a document's form; empty for nil.
func Hardware(found *node.Inspected) (*hostapi.Hardware, error) {
	if found == nil {
		return &hostapi.Hardware{}, nil
	}
	var inv agentapi.Inventory
	if _, err := agentapi.Decode(found.Inventory, &inv); err != nil {
		return nil, fmt.Errorf("inventory: %w", err)
	}
	var beside plugins
	if len(found.PluginData) > 0 {
		if err := json.Unmarshal(found.PluginData, &beside); err != nil {
			return nil, fmt.Errorf("plugin data: %w", err)
		}
	}
	h := &hostapi.Hardware{
		SystemVendor: hostapi.SystemVendor{
			Manufacturer: inv.SystemVendor.Manufacturer, ProductName: inv.SystemVendor.ProductName,
			SerialNumber: inv.SystemVendor.SerialNumber,
		},
		Firmware: hostapi.HardwareFirmware{BIOS: hostapi.BIOS{
			Vendor: inv.SystemVendor.Firmware.Vendor, Version: inv.SystemVendor.Firmware.Version,
			Date: inv.SystemVendor.Firmware.BuildDate,
		}},
		RAMMebibytes: int(inv.Memory.PhysicalMB), CPU: cpu(inv.CPU), Hostname: inv.Hostname,
	}
	for _, i := range inv.Interfaces {
		h.NIC = append(h.NIC, nics(i, beside)...)
	}
	for _, d := range inv.Disks {
		h.Storage = append(h.Storage, storage(d))
	}
	return h, nil
}

func cpu(c agentapi.CPU) hostapi.CPU {
	mhz, err := strconv.ParseFloat(strings.TrimSpace(c.Frequency), 64)
	if err != nil || math.IsInf(mhz, 0) || math.IsNaN(mhz) {
		mhz = 0
	}
	flags := slices.Sorted(slices.Values(c.Flags))
	return hostapi.CPU{Arch: c.Architecture, Model: c.ModelName, ClockMegahertz: math.Round(mhz), Flags: flags,
		Count: c.Count}
}

// nics is one card: a row for each of its addresses, and one if it has none.
func nics(i agentapi.Interface, beside plugins) []hostapi.NIC {
	nic := hostapi.NIC{
		Name: i.Name, MAC: i.MACAddress, SpeedGbps: i.SpeedMbps / 1000, PCIAddress: i.PCIAddress,
		Model: strings.TrimSpace(i.Vendor + " " + i.Product), PXE: beside.Interfaces[i.Name].PXE,
	}
	said := beside.LLDP[i.Name]
	nic.VLANID = said.Untagged
	for _, v := range said.VLANs {
		nic.VLANs = append(nic.VLANs, hostapi.VLAN{ID: v.ID, Name: v.Name})
	}
	if l := (hostapi.LLDP{SwitchID: said.Chassis, PortID: said.Port,
		SwitchSystemName: said.System}); l != (hostapi.LLDP{}) {
		nic.LLDP = &l
	}
	var rows []hostapi.NIC
	for _, ip := range []string{i.IPv4Address, i.IPv6Address} {
		if ip != "" {
			nic.IP = ip
			rows = append(rows, nic)
		}
	}
	if rows == nil {
		rows = append(rows, nic)
	}
	return rows
}

// storage is one disk, called by its path where it has one: that stays.
func storage(d agentapi.Disk) hostapi.Storage {
	s := hostapi.Storage{
		Name: d.Name, Rotational: d.Rotational, Type: "SSD", SizeBytes: d.Size, Vendor: d.Vendor, Model: d.Model,
		SerialNumber: d.Serial,
		WWN:          d.WWN, WWNVendorExtension: d.WWNVendorExtension, WWNWithExtension: d.WWNWithExtension, HCTL: d.HCTL,
	}
	switch {
	case d.Rotational:
		s.Type = "HDD"
	case strings.HasPrefix(d.Name, "/dev/nvme"):
		s.Type = "NVME"
	}
	for _, name := range []string{d.Name, d.ByPath} {
		if name != "" {
			s.Name, s.AlternateNames = name, append(s.AlternateNames, name)
		}
	}
	return s
}
