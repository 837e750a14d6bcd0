package hostapi

// HardwareData is the result of an inspection, in a document of its own that outlives the conductor's record of the
// node.
type HardwareData struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"Metadata that all documents share."`

	Spec HardwareDataSpec `json:"spec" doc:"The result of a host's inspection."`
}

// HardwareDataSpec is its one part.
type HardwareDataSpec struct {
	Hardware *Hardware `json:"hardware,omitempty" doc:"The hardware of the machine."`
}

// Hardware describes the parts of a machine.
type Hardware struct {
	SystemVendor SystemVendor     `json:"systemVendor,omitzero" doc:"The maker of the machine."`
	Firmware     HardwareFirmware `json:"firmware,omitzero" doc:"The firmware that starts the machine."`
	RAMMebibytes int              `json:"ramMebibytes,omitempty" doc:"Memory in MiB."`
	NIC          []NIC            `json:"nics,omitempty" doc:"Network cards, one entry for each address."`
	Storage      []Storage        `json:"storage,omitempty" doc:"Disks."`
	CPU          CPU              `json:"cpu,omitzero" doc:"Processors."`
	Hostname     string           `json:"hostname,omitempty" doc:"The name it had."`
}

// SystemVendor names the maker and the model.
type SystemVendor struct {
	Manufacturer string `json:"manufacturer,omitempty" doc:"The maker."`
	ProductName  string `json:"productName,omitempty" doc:"The model."`
	SerialNumber string `json:"serialNumber,omitempty" doc:"The serial number."`
}

// HardwareFirmware is the firmware that starts the machine.
type HardwareFirmware struct {
	BIOS BIOS `json:"bios,omitzero" doc:"The BIOS or UEFI firmware."`
}

// BIOS is one firmware.
type BIOS struct {
	Date    string `json:"date,omitempty" doc:"Its date."`
	Vendor  string `json:"vendor,omitempty" doc:"Its maker."`
	Version string `json:"version,omitempty" doc:"Its version."`
}

// CPU is its processors, all being the same.
type CPU struct {
	Arch           string   `json:"arch,omitempty" doc:"Architecture, as x86_64."`
	Model          string   `json:"model,omitempty" doc:"Model."`
	ClockMegahertz float64  `json:"clockMegahertz,omitempty" doc:"Clock in MHz."`
	Flags          []string `json:"flags,omitempty" doc:"Its features, in the kernel's words."`
	Count          int      `json:"count,omitempty" doc:"How many threads there are."`
}

// Storage is one disk.
type Storage struct {
	Name               string   `json:"name,omitempty" doc:"Name of the disk, by path where there is such a name."`
	AlternateNames     []string `json:"alternateNames,omitempty" doc:"Other names of it."`
	Rotational         bool     `json:"rotational,omitempty" doc:"Whether it turns."`
	Type               string   `json:"type,omitempty" rule:"enum=HDD/SSD/NVME" doc:"Kind of disk."`
	SizeBytes          int64    `json:"sizeBytes,omitempty" doc:"Size in bytes."`
	Vendor             string   `json:"vendor,omitempty" doc:"Its maker."`
	Model              string   `json:"model,omitempty" doc:"Its model."`
	SerialNumber       string   `json:"serialNumber,omitempty" doc:"Its serial number."`
	WWN                string   `json:"wwn,omitempty" doc:"World wide name."`
	WWNVendorExtension string   `json:"wwnVendorExtension,omitempty" doc:"The vendor's extension of the world wide name."`
	WWNWithExtension   string   `json:"wwnWithExtension,omitempty" doc:"World wide name with the vendor's extension."`
	HCTL               string   `json:"hctl,omitempty" doc:"SCSI address."`
}

// NIC is one address of a network card: a card with IPv4 and IPv6 is there twice.
type NIC struct {
	Name       string `json:"name,omitempty" doc:"Name of the card."`
	Model      string `json:"model,omitempty" doc:"Its maker and model."`
	MAC        string `json:"mac,omitempty" rule:"form=mac" doc:"Its address."`
	IP         string `json:"ip,omitempty" doc:"IP address, IPv4 or IPv6."`
	SpeedGbps  int    `json:"speedGbps,omitempty" doc:"Speed in Gbit/s."`
	VLANs      []VLAN `json:"vlans,omitempty" doc:"Networks the switch offers."`
	VLANID     int    `json:"vlanId,omitempty" doc:"The network of untagged frames."`
	PXE        bool   `json:"pxe,omitempty" doc:"Whether the machine boots from it."`
	LLDP       *LLDP  `json:"lldp,omitempty" doc:"The switch's description of itself."`
	PCIAddress string `json:"pciAddress,omitempty" doc:"Where the card is."`
}

// VLAN is a network a switch offers.
type VLAN struct {
	ID   int    `json:"id,omitempty" rule:"min=0,max=4094" doc:"Number of the network."`
	Name string `json:"name,omitempty" doc:"Name of the network."`
}

// LLDP is the switch's description of itself.
type LLDP struct {
	SwitchID         string `json:"switchID,omitempty" doc:"Identity of the switch."`
	PortID           string `json:"portID,omitempty" doc:"Identity of its port."`
	SwitchSystemName string `json:"switchSystemName,omitempty" doc:"Name of the switch."`
}
