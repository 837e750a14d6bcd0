package agentapi

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/proto/placeholder"
)

// Inspection is the body of POST /v1/continue_inspection.
type Inspection struct {
	Inventory     Inventory          `json:"inventory"`
	RootDisk      *Disk              `json:"root_disk,omitempty"`
	BootInterface string             `json:"boot_interface,omitempty"` // BOOTIF, verbatim
	Configuration map[string]any     `json:"configuration,omitempty"`
	PCIDevices    []PCIDevice        `json:"pci_devices,omitempty"`
	LLDPRaw       map[string][][]any `json:"lldp_raw,omitempty"` // by interface, [type, hex]
	NUMATopology  *NUMATopology      `json:"numa_topology,omitempty"`
	DMI           *DMI               `json:"dmi,omitempty"`
	USBDevices    []USBDevice        `json:"usb_devices,omitempty"`
	Error         *string            `json:"error"`
	Logs          string             `json:"logs,omitempty"` // base64 of a tar.gz
	// SkippedDisks is Ferrite's own: devices that look like disks but are not in the inventory. Other
	// conductors ignore the field.
	SkippedDisks []SkippedDisk `json:"ferrite_skipped_disks,omitempty"`
	// SystemUUID, Ferrite's own too, is the UUID in DMI. It identifies a machine that has new network cards.
	SystemUUID string `json:"ferrite_system_uuid,omitempty"`
	// ErasePlan is Ferrite's own: the plan of erase_devices for each disk.
	ErasePlan []ErasePlan `json:"ferrite_erase_plan,omitempty"`
	// Clock is Ferrite's own: the machine's clocks as the agent found them.
	Clock *Clock `json:"ferrite_clock,omitempty"`
	// Odd names parts of the body that Decode has left out; "" for none.
	Odd string `json:"-"`
}

// Clock is the clocks of a machine at the start of its agent, and the conductor's time at
// its first answer (RFC 3339, UTC; empty for unknown).
type Clock struct {
	System    string `json:"system"`
	RTC       string `json:"rtc,omitempty"`
	Conductor string `json:"conductor,omitempty"`
	Pinned    bool   `json:"pinned,omitempty"` // the conductor's certificate is pinned: its time is taken
	Set       string `json:"set,omitempty"`    // the time that the system's clock was set to last
	RTCSet    bool   `json:"rtc_set,omitempty"`
}

// Decode reads inspection data, or a part of them. A value of another kind than v has is left out, and odd names the
// first: hardware managers of operators add to the data, and one odd value must not cost the rest.
func Decode(raw []byte, v any) (odd string, err error) {
	err = json.Unmarshal(raw, v)
	if other, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && other.Field != "" {
		return fmt.Sprintf("%s, which is of the kind %s", other.Field, other.Value), nil
	}
	return "", err
}

// SkippedDisk is a block device that is no disk to work on, and why.
type SkippedDisk struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// NotHardware is the reason for devices without hardware behind them: memory, loops and the like, which no operator
// expects among the disks.
const NotHardware = "not hardware"

// maxInterfaces is far more than a machine has: a conductor looks each up.
const maxInterfaces = 1024

// Validate refuses data no node can be found or filled by.
func (i Inspection) Validate() error {
	if len(i.Inventory.Interfaces) == 0 {
		return fmt.Errorf("inspection data: inventory.interfaces is empty")
	}
	if n := len(i.Inventory.Interfaces); n > maxInterfaces {
		return fmt.Errorf("inspection data: inventory.interfaces has %d entries, at most %d are taken", n, maxInterfaces)
	}
	if len(i.Inventory.MACs()) == 0 {
		return fmt.Errorf("inspection data: none of the %d entries of inventory.interfaces has a MAC address; "+
			"mac_address of the first is %.40q", len(i.Inventory.Interfaces), i.Inventory.Interfaces[0].MACAddress)
	}
	for n, f := range i.Inventory.Interfaces {
		if len(f.Name) > maxText {
			return fmt.Errorf("inspection data: inventory.interfaces[%d].name has %d characters, at most %d are taken", n,
				len(f.Name), maxText)
		}
	}
	if n := len(i.Inventory.CPU.Architecture); n > maxText {
		return fmt.Errorf("inspection data: inventory.cpu.architecture has %d characters, at most %d are taken", n, maxText)
	}
	switch mode := i.Inventory.Boot.CurrentBootMode; mode {
	case "", "bios", "uefi":
	default: // it becomes one of the node's capabilities, and could bring others along
		return fmt.Errorf("inspection data: inventory.boot.current_boot_mode %.40q is neither bios nor uefi", mode)
	}
	return nil
}

// Inventory lists the hardware of a machine.
type Inventory struct {
	Interfaces   []Interface  `json:"interfaces"`
	CPU          CPU          `json:"cpu"`
	Memory       Memory       `json:"memory"`
	Disks        []Disk       `json:"disks"`
	BMCAddress   string       `json:"bmc_address,omitempty"`
	BMCv6Address string       `json:"bmc_v6address,omitempty"`
	BMCMAC       string       `json:"bmc_mac,omitempty"`
	SystemVendor SystemVendor `json:"system_vendor"`
	Boot         BootInfo     `json:"boot"`
	Hostname     string       `json:"hostname"`
	TPM          *TPM         `json:"tpm,omitempty"` // ours: ironic-python-agent does not report it
	// StorageControllers are of a BMC's report alone.
	StorageControllers []StorageController `json:"storage_controllers,omitempty"`
}

// MACs returns the addresses that identify a machine: its interfaces' addresses in lower case, without the
// placeholders of firmware. An interface without an address stays in the inventory, and identifies nothing.
func (i Inventory) MACs() (macs []string) {
	for _, f := range i.Interfaces {
		if mac := placeholder.MAC(f.MACAddress); mac != "" {
			macs = append(macs, mac)
		}
	}
	return macs
}

// Interface is one network interface. Vendor and Product are PCI ids "0x..."; of a card that a BMC reports, Product is
// maker and model.
type Interface struct {
	Name        string  `json:"name"`
	MACAddress  string  `json:"mac_address"`
	IPv4Address string  `json:"ipv4_address,omitempty"`
	IPv6Address string  `json:"ipv6_address,omitempty"`
	HasCarrier  bool    `json:"has_carrier"`
	LLDP        [][]any `json:"lldp"` // [type, hex]; null when not collected
	Vendor      string  `json:"vendor,omitempty"`
	Product     string  `json:"product,omitempty"`
	ClientID    string  `json:"client_id,omitempty"`
	BIOSDevName string  `json:"biosdevname,omitempty"`
	SpeedMbps   int     `json:"speed_mbps,omitempty"`
	PCIAddress  string  `json:"pci_address,omitempty"`
	Driver      string  `json:"driver,omitempty"`
	// PredictableName is Ferrite's own: the name that systemd gives the interface in the installed system. Name is the
	// kernel's, which clients of Ironic expect.
	PredictableName string `json:"predictable_name,omitempty"`
}

// CPU is the processors taken together. Frequency is MHz, as a string.
type CPU struct {
	ModelName    string   `json:"model_name"`
	Frequency    string   `json:"frequency"`
	Count        int      `json:"count"` // logical
	Architecture string   `json:"architecture"`
	Flags        []string `json:"flags"`
	SocketCount  int      `json:"socket_count,omitempty"`
}

// Memory is the kernel's memory (Total, bytes) and the fitted modules.
type Memory struct {
	Total      int64 `json:"total"`
	PhysicalMB int64 `json:"physical_mb"`
}

// Disk is one block device. Size is bytes.
type Disk struct {
	Name               string `json:"name"`
	Model              string `json:"model"`
	Size               int64  `json:"size"`
	Rotational         bool   `json:"rotational"`
	WWN                string `json:"wwn,omitempty"`
	Serial             string `json:"serial,omitempty"`
	Vendor             string `json:"vendor,omitempty"`
	WWNWithExtension   string `json:"wwn_with_extension,omitempty"`
	WWNVendorExtension string `json:"wwn_vendor_extension,omitempty"`
	HCTL               string `json:"hctl,omitempty"`
	ByPath             string `json:"by_path,omitempty"`
	LogicalSectors     int    `json:"logical_sectors,omitempty"`
	PhysicalSectors    int    `json:"physical_sectors,omitempty"`
	Transport          string `json:"tran,omitempty"`
	// ReadOnly is Ferrite's own: the kernel refuses to write, as to a worn-out SSD.
	ReadOnly bool `json:"ferrite_read_only,omitempty"`
	// Paths are the other names of a disk that is reached by several ways, which
	// ironic-python-agent leaves to multipathd.
	Paths []DiskPath `json:"paths,omitempty"`
}

// SystemVendor describes the machine by DMI.
type SystemVendor struct {
	ProductName  string   `json:"product_name"`
	SerialNumber string   `json:"serial_number"`
	Manufacturer string   `json:"manufacturer"`
	Firmware     Firmware `json:"firmware"`
	SystemUUID   string   `json:"system_uuid,omitempty"` // of a BMC's report; Ironic's rules read it there
}

// Firmware is the BIOS or UEFI.
type Firmware struct {
	Vendor    string `json:"vendor"`
	Version   string `json:"version"`
	BuildDate string `json:"build_date"`
}

// BootInfo is how the ramdisk was booted: mode uefi or bios, and BOOTIF. SecureBoot reports whether UEFI checks
// signatures; it is absent where nothing checks them. ironic-python-agent does not send SecureBoot.
type BootInfo struct {
	CurrentBootMode string `json:"current_boot_mode"`
	PXEInterface    string `json:"pxe_interface,omitempty"`
	SecureBoot      *bool  `json:"secure_boot,omitempty"`
}

// Managers returns the hardware managers of the ramdisk that inspected, name to version. The configuration lists them
// as [{"name": "...", "version": "..."}]; anything else counts as none.
func (i Inspection) Managers() map[string]string {
	list, _ := i.Configuration["managers"].([]any)
	managers := map[string]string{}
	for _, m := range list {
		entry, _ := m.(map[string]any)
		name, named := entry["name"].(string)
		version, _ := entry["version"].(string)
		if named {
			managers[name] = version
		}
	}
	return managers
}
