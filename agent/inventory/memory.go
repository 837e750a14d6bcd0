package inventory

import (
	"encoding/binary"
	"io/fs"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Memory is what the kernel has and what is fitted. A machine whose firmware
// does not list its modules is taken to have what the kernel has.
func Memory(fsys fs.FS) agentapi.Memory {
	var m agentapi.Memory
	for line := range strings.Lines(text(fsys, "proc/meminfo")) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && fields[0] == "MemTotal:" {
			if kib, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				m.Total = kib << 10
			}
		}
	}
	if table, err := fs.ReadFile(fsys, "sys/firmware/dmi/tables/DMI"); err == nil {
		m.PhysicalMB = fittedMB(table)
	}
	if m.PhysicalMB == 0 {
		m.PhysicalMB = m.Total >> 20
	}
	return m
}

// memoryDevice is the SMBIOS structure of one memory module (type 17,
// SMBIOS 3.7 section 7.18).
const memoryDevice = 17

// fittedMB adds up the memory modules of a SMBIOS table.
func fittedMB(table []byte) int64 {
	var total int64
	for len(table) >= 4 {
		kind, length := table[0], int(table[1])
		if length < 4 || length > len(table) {
			return total // not a table any more
		}
		if kind == memoryDevice {
			total += moduleMB(table[:length])
		}
		table = afterStrings(table[length:])
	}
	return total
}

// moduleMB is the size of one module.
func moduleMB(s []byte) int64 {
	const sizeAt, extendedAt = 0x0c, 0x1c
	if len(s) < sizeAt+2 {
		return 0
	}
	size := binary.LittleEndian.Uint16(s[sizeAt:])
	switch {
	case size == 0 || size == 0xffff: // not fitted, not known
		return 0
	case size == 0x7fff && len(s) >= extendedAt+4:
		return int64(binary.LittleEndian.Uint32(s[extendedAt:]) & 0x7fffffff)
	case size&0x8000 != 0: // in KiB
		return int64(size&0x7fff) >> 10
	}
	return int64(size)
}

// afterStrings skips a structure's strings, which end with two zero bytes.
func afterStrings(b []byte) []byte {
	for i := 0; i+1 < len(b); i++ {
		if b[i] == 0 && b[i+1] == 0 {
			return b[i+2:]
		}
	}
	return nil
}
