package redfish

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// readProcessors reads the model, the clock and the number of the processors. The list may have GPUs, which do not
// count. Disabled processors count only where all are.
func (p *parts) readProcessors() error {
	paths, err := p.members(p.links.Processors.Path)
	if err != nil {
		return err
	}
	type processor struct {
		ProcessorType, Model  string
		MaxSpeedMHz, SpeedMHz int32 // the second is the older name
		Status                resourceStatus
	}
	disabled := 0
	err = each(p, "processors", paths, func(_ string, c processor) {
		if c.Status.absent() || c.ProcessorType != "" && c.ProcessorType != "CPU" {
			return
		}
		if c.Status.disabled() {
			disabled++
		} else {
			p.out.Sockets++
		}
		p.out.CPUModel = cmp.Or(p.out.CPUModel, tidy(c.Model))
		p.out.CPUMHz = max(p.out.CPUMHz, int(c.MaxSpeedMHz), int(c.SpeedMHz))
	})
	p.out.Sockets = cmp.Or(p.out.Sockets, disabled)
	return err
}

// readMemory reads the modules; an empty slot has a capacity of 0, or is absent.
func (p *parts) readMemory() error {
	paths, err := p.members(p.links.Memory.Path)
	if err != nil {
		return err
	}
	type module struct {
		ID                       string `json:"Id"`
		DeviceLocator            string
		CapacityMiB              int64
		OperatingSpeedMhz        int32
		MemoryDeviceType         string
		MemoryType               string // GPU memory and the like have another than DRAM
		Manufacturer, PartNumber string
		SerialNumber             string
		Status                   resourceStatus
	}
	return each(p, "memory modules", paths, func(_ string, m module) {
		if m.Status.absent() || m.CapacityMiB <= 0 {
			return
		}
		p.out.Memory = append(p.out.Memory, node.MemoryModule{
			Slot: cmp.Or(tidy(m.DeviceLocator), tidy(m.ID)), MB: m.CapacityMiB, SpeedMHz: max(0, int(m.OperatingSpeedMhz)),
			Type: tidy(m.MemoryDeviceType), Manufacturer: tidy(m.Manufacturer), PartNumber: tidy(m.PartNumber),
			Serial: tidy(m.SerialNumber), Disabled: m.Status.disabled(),
		})
	})
}

// readPCI reads the functions of the PCI devices that the system names.
func (p *parts) readPCI() error {
	type device struct {
		PCIeFunctions reference // a collection; older BMCs list them in Links
		Links         struct{ PCIeFunctions []reference }
		Status        resourceStatus
	}
	type function struct {
		ID         string `json:"Id"`
		VendorID   string `json:"VendorId"`
		DeviceID   string `json:"DeviceId"`
		RevisionID string `json:"RevisionId"`
		ClassCode  string
		Status     resourceStatus
	}
	var functions []string
	devices, err := p.pciDevices()
	if err != nil {
		return err
	}
	err = each(p, "PCI devices", devices, func(_ string, d device) {
		found := paths(d.Links.PCIeFunctions)
		if of, err := p.members(d.PCIeFunctions.Path); err == nil && len(found) == 0 {
			found = of
		}
		functions = append(functions, found...)
	})
	if err != nil {
		return err
	}
	return each(p, "PCI functions", functions, func(_ string, f function) {
		if vendor := hexadecimal(f.VendorID); vendor != "" && !f.Status.absent() {
			p.out.PCI = append(p.out.PCI, node.PCIFunction{Vendor: vendor, Product: hexadecimal(f.DeviceID),
				Class: hexadecimal(f.ClassCode), Revision: hexadecimal(f.RevisionID), Bus: tidy(f.ID)})
		}
	})
}

// pciDevices are the devices that the system names, or else its chassis, as with iLO. Dell names some devices several
// times.
func (p *parts) pciDevices() ([]string, error) {
	all := paths(p.links.PCIeDevices)
	for _, chassis := range paths(p.links.Links.Chassis) {
		if len(all) > 0 {
			break
		}
		var c struct{ PCIeDevices reference }
		if _, err := p.get(chassis, &c); err != nil {
			return nil, err
		}
		of, err := p.members(c.PCIeDevices.Path)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// hexadecimal is an id without 0x, in lower case; "" for anything else.
func hexadecimal(id string) string {
	digits := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(id)), "0x")
	if strings.Trim(digits, "0123456789abcdef") != "" {
		return ""
	}
	return digits
}
