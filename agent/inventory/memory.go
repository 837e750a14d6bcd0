package inventory

import (
	"io/fs"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Memory is the kernel's memory and the installed one. The kernel's memory counts for both if the firmware lists no
// modules, or less than the kernel has (glpi-project/glpi-agent#750: modules of one of two processors).
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
	table, _ := smbios(fsys)
	m.PhysicalMB = max(fittedMB(table), m.Total>>20)
	return m
}

// fittedMB adds up the memory modules of a SMBIOS table, without arrays for other uses: video memory, flash, NVRAM,
// caches (DSP0134 7.17.2).
func fittedMB(table []structure) int64 {
	const useAt, arrayAt, systemMemory = 0x05, 0x04, 3
	var total int64
	other := map[uint16]bool{}
	for _, s := range table {
		if use, ok := s.u8(useAt); s.kind == smbiosMemoryArray && ok && use > systemMemory {
			other[s.handle] = true
		}
	}
	for _, s := range table {
		array, _ := s.u16(arrayAt)
		if s.kind == smbiosMemoryDevice && !other[array] {
			total += moduleKB(s) >> 10
		}
	}
	return total
}

// moduleKB is the size of one memory module in KiB, 0 where none is fitted or
// its size is not known (DSP0134 7.18).
func moduleKB(s structure) int64 {
	const sizeAt, extendedAt, inKB, seeExtended, notKnown = 0x0c, 0x1c, 0x8000, 0x7fff, 0xffff
	size, ok := s.u16(sizeAt)
	switch {
	case !ok || size == notKnown:
		return 0
	case size == seeExtended:
		mb, _ := s.u32(extendedAt)
		return int64(mb&0x7fffffff) << 10
	case size&inKB != 0:
		return int64(size &^ inKB)
	}
	return int64(size) << 10
}
