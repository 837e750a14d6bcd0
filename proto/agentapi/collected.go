package agentapi

// Data collected only on request (ipa-inspection-collectors).

// NUMATopology is which memory, cores and interfaces are near each other
// (collector numa-topology).
type NUMATopology struct {
	RAM  []NUMAMemory `json:"ram"`
	CPUs []NUMACore   `json:"cpus"`
	NICs []NUMANIC    `json:"nics"`
}

// NUMAMemory is the memory of a NUMA node, in KiB.
type NUMAMemory struct {
	Node   int   `json:"numa_node"`
	SizeKB int64 `json:"size_kb"`
}

// NUMACore is a core with its threads. Its number is unique only within its NUMA node.
type NUMACore struct {
	CPU            int   `json:"cpu"`
	Node           int   `json:"numa_node"`
	ThreadSiblings []int `json:"thread_siblings"`
}

// NUMANIC is where a network interface is; -1 when the machine does not say.
type NUMANIC struct {
	Name string `json:"name"`
	Node int    `json:"numa_node"`
}

// USBDevice is a device in a USB port. Handle is lshw's, "USB:1:2": bus and device in hexadecimal.
type USBDevice struct {
	Product string `json:"product"`
	Vendor  string `json:"vendor"`
	Handle  string `json:"handle"`
}

// DMI is the firmware's description of itself, the processors and the memory, under the names and in the words of
// dmidecode (collector dmi-decode). Values are texts and lists of texts; Memory has also "Number Of Devices", a
// number, and "devices", a list of such tables.
type DMI struct {
	BIOS   map[string]any   `json:"bios"`
	CPU    []map[string]any `json:"cpu"`
	Memory map[string]any   `json:"memory"`
}

// PCIDevice is one function on the PCI bus; ids are hex without prefix
// (collector pci-devices).
type PCIDevice struct {
	VendorID  string `json:"vendor_id"`
	ProductID string `json:"product_id"`
	Class     string `json:"class"`
	Revision  string `json:"revision"`
	Bus       string `json:"bus"`
	NUMANode  string `json:"numa_node_id,omitempty"`
}

// TPM is the machine's trusted platform module: Version is "1.2" or "2.0", ""
// when the kernel does not say.
type TPM struct {
	Version string `json:"version"`
}
