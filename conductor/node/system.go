package node

// System is a BMC's description of its machine. Zero fields are not known.
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
	Parts        Parts    // empty until they are asked for
}

// Vitals is the state of a machine, in one answer of its BMC.
type Vitals struct {
	Power   PowerState // "" while the BMC names no state; then:
	Said    string     // its own words instead
	Becomes PowerState // where it says that the machine is on its way to
	Health  string     // OK, Warning or Critical; "" when it does not say
}
