// Package hardware asks BMCs on behalf of operators: boot device, boot mode, indicators,
// consoles, virtual media, vendor methods, RAID and reports of the hardware.
package hardware
