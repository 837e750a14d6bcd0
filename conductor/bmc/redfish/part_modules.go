package redfish

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// bigNumber is a size, which may be text, and null or anything else for 0.
type bigNumber int64

// UnmarshalJSON takes a number, or text that is one.
func (n *bigNumber) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err == nil && v >= 0 && v < math.MaxInt64/2 {
		*n = bigNumber(v)
	}
	return nil
}

// readProcessors reads the model, the clock and the number of the processors; a GPU counts as one too, and is none.
func (p *parts) readProcessors() error {
	paths, err := p.members(p.links.Processors.Path)
	if err != nil {
		return err
	}
	type processor struct {
		ProcessorType, Model  looseText
		MaxSpeedMHz, SpeedMHz looseNumber // the second is the older name
		Status                presence
	}
	return each(p, "processors", paths, func(_ string, c processor) {
		if c.Status.absent() || c.ProcessorType != "" && c.ProcessorType != "CPU" {
			return
		}
		p.out.Sockets++
		p.out.CPUModel = cmp.Or(p.out.CPUModel, c.Model.tidy())
		p.out.CPUMHz = max(p.out.CPUMHz, int(c.MaxSpeedMHz), int(c.SpeedMHz))
	})
}

// readMemory reads the modules; an empty slot has a capacity of 0, or is absent.
func (p *parts) readMemory() error {
	paths, err := p.members(p.links.Memory.Path)
	if err != nil {
		return err
	}
	type module struct {
		ID                       looseText `json:"Id"`
		DeviceLocator            looseText
		CapacityMiB              bigNumber
		OperatingSpeedMhz        looseNumber
		MemoryDeviceType         looseText
		MemoryType               looseText // GPU memory and the like have another than DRAM
		Manufacturer, PartNumber looseText
		SerialNumber             looseText
		Status                   presence
	}
	return each(p, "memory modules", paths, func(_ string, m module) {
		if m.Status.absent() || m.CapacityMiB <= 0 {
			return
		}
		p.out.Memory = append(p.out.Memory, node.MemoryModule{
			Slot: cmp.Or(m.DeviceLocator.tidy(), m.ID.tidy()), MB: int64(m.CapacityMiB), SpeedMHz: int(m.OperatingSpeedMhz),
			Type: m.MemoryDeviceType.tidy(), Manufacturer: m.Manufacturer.tidy(), PartNumber: m.PartNumber.tidy(),
			Serial: m.SerialNumber.tidy(),
		})
	})
}

// readPCI reads the functions of the PCI devices that the system names.
func (p *parts) readPCI() error {
	type device struct {
		PCIeFunctions looseReferences
		Links         struct{ PCIeFunctions looseReferences }
		Status        presence
	}
	type function struct {
		ID         looseText `json:"Id"`
		VendorID   looseText `json:"VendorId"`
		DeviceID   looseText `json:"DeviceId"`
		RevisionID looseText `json:"RevisionId"`
		ClassCode  looseText
		Status     presence
	}
	var functions []string
	devices, err := p.pciDevices()
	if err != nil {
		return err
	}
	err = each(p, "PCI devices", devices, func(_ string, d device) {
		found := paths(d.Links.PCIeFunctions)
		for _, collection := range paths(d.PCIeFunctions) {
			if of, err := p.members(collection); err == nil && len(found) == 0 {
				found = of
			}
		}
		functions = append(functions, found...)
	})
	if err != nil {
		return err
	}
	return each(p, "PCI functions", functions, func(_ string, f function) {
		if vendor := hexadecimal(f.VendorID); vendor != "" && !f.Status.absent() {
			p.out.PCI = append(p.out.PCI, node.PCIFunction{Vendor: vendor, Product: hexadecimal(f.DeviceID),
				Class: hexadecimal(f.ClassCode), Revision: hexadecimal(f.RevisionID), Bus: f.ID.tidy()})
		}
	})
}

// pciDevices are those that the system names, else those of its chassis, as iLO has them; Dell names one several times.
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
func hexadecimal(t looseText) string {
	digits := strings.TrimPrefix(strings.ToLower(t.tidy()), "0x")
	if strings.Trim(digits, "0123456789abcdef") != "" {
		return ""
	}
	return digits
}
