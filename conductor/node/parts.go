package node

import (
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/lldp"
)

// Parts are the parts of a machine that a BMC reports, beyond System. Lists are empty if it does not report them.
type Parts struct {
	CPUModel string
	CPUMHz   int
	Sockets  int
	Cards    []Card
	Disks    []Disk
	Volumes  []Volume
	Memory   []MemoryModule
	PCI      []PCIFunction
	// Controllers are the storage subsystems.
	Controllers []agentapi.StorageController
	Incomplete  []string // kinds of parts that were not read to their end, and why
}

// Card is one port of a network card. Its Name is unique among the machine's.
type Card struct {
	Name        string
	MAC         string     // lower case
	Description string     // maker and model
	SpeedMbps   int        // 0: not known, or no link
	Link        *bool      // nil: not known
	Switch      []lldp.TLV // announcement of the switch at the other end; nil: not known
}

// Disk is a drive, or a logical drive that a controller makes of several.
type Disk struct {
	Name, Model, Vendor, Serial string
	Bytes                       int64
	Rotational                  bool
	Transport                   string // nvme, sata, sas; "" for unknown
	WWN                         string // with 0x, or eui.
	Health                      string // OK, Warning, Critical
}

// Volume is a volume that a storage controller presents to the machine.
type Volume struct {
	Name     string `json:"name"`
	RAIDType string `json:"raid_type,omitempty"` // Redfish's: RAID1
	Bytes    int64  `json:"size"`
	Drives   int    `json:"drives,omitempty"`
}

// MemoryModule is one DIMM, or its equivalent.
type MemoryModule struct {
	Slot         string `json:"slot"`
	MB           int64  `json:"size_mb"`
	SpeedMHz     int    `json:"speed_mhz,omitempty"`
	Type         string `json:"type,omitempty"` // DDR5
	Manufacturer string `json:"manufacturer,omitempty"`
	PartNumber   string `json:"part_number,omitempty"`
	Serial       string `json:"serial_number,omitempty"`
	Disabled     bool   `json:"disabled,omitempty"` // the machine does without it
}

// PCIFunction is a function of a PCI device; ids are hexadecimal, without 0x.
type PCIFunction struct {
	Vendor, Product, Class, Revision, Bus string
}

// LocalGB is Ironic's local_gb: the smallest disk of at least 4 GiB, less one for partitioning
// (ironic redfish/inspect.py); 0 where there is none. A volume hides the drives it is made of.
func (p Parts) LocalGB() int64 {
	const least = 4 << 30
	smallest := int64(0)
	take := func(bytes int64) {
		if bytes >= least && (smallest == 0 || bytes < smallest) {
			smallest = bytes
		}
	}
	for _, v := range p.Volumes {
		take(v.Bytes)
	}
	if smallest == 0 {
		for _, d := range p.Disks {
			take(d.Bytes)
		}
	}
	return max(smallest>>30-1, 0)
}
