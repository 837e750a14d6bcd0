package node

// System is what a BMC tells of its machine. Zero fields are not known.
type System struct {
	UUID         string
	Manufacturer string
	Model        string
	Serial       string
	BIOSVersion  string
	MemoryMB     int64
	CPUs         int      // logical
	Architecture string   // x86_64, aarch64
	BootMode     string   // uefi or bios
	MACs         []string // lower case
}

// Vitals is what a BMC tells of its machine's state, in one answer.
type Vitals struct {
	Power  PowerState
	Health string // OK, Warning or Critical; "" when it does not say
}
