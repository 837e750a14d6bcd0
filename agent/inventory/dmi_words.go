package inventory

// The names of SMBIOS's numbers, by the number (DSP0134 3.7), as dmidecode
// spells them; "" is a number without a meaning.

// biosCharacteristics are the bits of 7.1.1 as far as dmidecode names them;
// the first four say that there are none.
func biosCharacteristics() []string {
	return []string{
		"", "", "", "", "ISA is supported", "MCA is supported", "EISA is supported", "PCI is supported",
		"PC Card (PCMCIA) is supported", "PNP is supported", "APM is supported", "BIOS is upgradeable",
		"BIOS shadowing is allowed",
		"VLB is supported", "ESCD support is available", "Boot from CD is supported", "Selectable boot is supported",
		"BIOS ROM is socketed", "Boot from PC Card (PCMCIA) is supported", "EDD is supported",
		"Japanese floppy for NEC 9800 1.2 MB is supported (int 13h)",
		"Japanese floppy for Toshiba 1.2 MB is supported (int 13h)",
		"5.25\"/360 kB floppy services are supported (int 13h)", "5.25\"/1.2 MB floppy services are supported (int 13h)",
		"3.5\"/720 kB floppy services are supported (int 13h)", "3.5\"/2.88 MB floppy services are supported (int 13h)",
		"Print screen service is supported (int 5h)", "8042 keyboard services are supported (int 9h)",
		"Serial services are supported (int 14h)", "Printer services are supported (int 17h)",
		"CGA/mono video services are supported (int 10h)",
		"NEC PC-98",
	}
}

func biosExtension1() []string {
	return []string{
		"ACPI is supported", "USB legacy is supported", "AGP is supported", "I2O boot is supported",
		"LS-120 boot is supported",
		"ATAPI Zip drive boot is supported", "IEEE 1394 boot is supported", "Smart battery is supported",
	}
}

func biosExtension2() []string {
	return []string{
		"BIOS boot specification is supported", "Function key-initiated network boot is supported",
		"Targeted content distribution is supported",
		"UEFI is supported", "System is a virtual machine", "Manufacturing mode is supported",
		"Manufacturing mode is enabled",
	}
}

func processorTypes() []string {
	return []string{"", "Other", "Unknown", "Central Processor", "Math Processor", "DSP Processor", "Video Processor"}
}

func processorStates() []string {
	return []string{"Unknown", "Enabled", "Disabled By User", "Disabled By BIOS", "Idle", "", "", "Other"}
}

func arrayLocations() []string {
	return []string{
		"", "Other", "Unknown", "System Board Or Motherboard", "ISA Add-on Card", "EISA Add-on Card", "PCI Add-on Card",
		"MCA Add-on Card",
		"PCMCIA Add-on Card", "Proprietary Add-on Card", "NuBus",
	}
}

func arrayUses() []string {
	return []string{"", "Other", "Unknown", "System Memory", "Video Memory", "Flash Memory", "Non-volatile RAM",
		"Cache Memory"}
}

func arrayCorrections() []string {
	return []string{"", "Other", "Unknown", "None", "Parity", "Single-bit ECC", "Multi-bit ECC", "CRC"}
}

func moduleForms() []string {
	return []string{
		"", "Other", "Unknown", "SIMM", "SIP", "Chip", "DIP", "ZIP", "Proprietary Card", "DIMM", "TSOP", "Row Of Chips",
		"RIMM", "SODIMM",
		"SRIMM", "FB-DIMM", "Die", "CAMM",
	}
}

func moduleTypes() []string {
	return []string{
		"", "Other", "Unknown", "DRAM", "EDRAM", "VRAM", "SRAM", "RAM", "ROM", "Flash", "EEPROM", "FEPROM", "EPROM", "CDRAM",
		"3DRAM", "SDRAM",
		"SGRAM", "RDRAM", "DDR", "DDR2", "DDR2 FB-DIMM", "Reserved", "Reserved", "Reserved", "DDR3", "FBD2", "DDR4", "LPDDR",
		"LPDDR2", "LPDDR3",
		"LPDDR4", "Logical non-volatile device", "HBM", "HBM2", "DDR5", "LPDDR5", "HBM3",
	}
}
