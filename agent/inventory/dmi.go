package inventory

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// DMI is the firmware's description of itself, the processors and the memory, as
// dmidecode prints it: its names and units, but without the words that dmidecode adds
// (a processor's family, signature and flags). Collector dmi-decode; nil on a machine
// without SMBIOS.
func DMI(fsys fs.FS) *agentapi.DMI {
	if table, _ := smbios(fsys); len(table) > 0 {
		return dmiOf(table)
	}
	return nil
}

// dmiOf has the form that ironic-python-agent gives it: the first memory array
// stands for all, with the number of their slots together.
func dmiOf(table []structure) *agentapi.DMI {
	d := &agentapi.DMI{BIOS: map[string]any{}, CPU: []map[string]any{}}
	devices, slots := []map[string]any{}, 0
	for _, s := range table {
		switch s.kind {
		case smbiosBIOS:
			d.BIOS = biosWords(s)
		case smbiosProcessor:
			d.CPU = append(d.CPU, processorWords(s))
		case smbiosMemoryArray:
			n, _ := s.u16(0x0d)
			slots += int(n)
			if d.Memory == nil {
				d.Memory = arrayWords(s)
			}
		case smbiosMemoryDevice:
			devices = append(devices, moduleWords(s))
		}
	}
	if d.Memory == nil {
		d.Memory = map[string]any{}
	} else {
		d.Memory["Number Of Devices"] = slots
	}
	d.Memory["devices"] = devices
	return d
}

// row is one line of dmidecode; an empty value is not printed.
type row struct{ name, value string }

func rows(s structure, list ...row) map[string]any {
	m := map[string]any{"Handle": fmt.Sprintf("Handle 0x%04X, DMI type %d, %d bytes", s.handle, s.kind, len(s.data))}
	for _, r := range list {
		if r.value != "" {
			m[r.name] = r.value
		}
	}
	return m
}

// biosWords describes the firmware (DSP0134 7.1).
func biosWords(s structure) map[string]any {
	m := rows(s,
		row{"Vendor", s.said(0x04)}, row{"Version", s.said(0x05)}, row{"Release Date", s.said(0x08)},
		row{"BIOS Revision", s.revision(0x14)}, row{"Firmware Revision", s.revision(0x16)},
	)
	if segment, ok := s.u16(0x06); ok && segment != 0 {
		m["Address"] = fmt.Sprintf("0x%04X0", segment)
		m["Runtime Size"] = bytesWords(uint64(0x10000-int(segment)) << 4)
	}
	if size, ok := s.u8(0x09); ok {
		m["ROM Size"] = bytesWords((uint64(size) + 1) << 16)
		if extended, ok := s.u16(0x18); ok && size == 0xff {
			m["ROM Size"] = bytesWords(uint64(extended&0x3fff) << (20 + 10*(extended>>14)))
		}
	}
	var can []string
	for _, c := range []struct {
		at    int
		names []string
	}{{0x0a, biosCharacteristics()}, {0x12, biosExtension1()}, {0x13, biosExtension2()}} {
		for i, name := range c.names {
			if b, ok := s.u8(c.at + i/8); ok && b>>(i%8)&1 == 1 && name != "" {
				can = append(can, name)
			}
		}
	}
	if can != nil {
		m["Characteristics"] = can
	}
	return m
}

// processorWords describes a processor's socket (DSP0134 7.5).
func processorWords(s structure) map[string]any {
	status, _ := s.u8(0x18)
	words := "Unpopulated"
	if status&0x40 != 0 {
		words = "Populated, " + word(status&7, processorStates())
	}
	id := ""
	if len(s.data) >= 0x10 {
		id = strings.ToUpper(fmt.Sprintf("% x", s.data[0x08:0x10]))
	}
	return rows(s,
		row{"Socket Designation", s.said(0x04)}, row{"Type", s.word(0x05, processorTypes())},
		row{"Manufacturer", s.said(0x07)}, row{"ID", id},
		row{"Version", s.said(0x10)}, row{"External Clock", s.measured(0x12, "MHz")},
		row{"Max Speed", s.measured(0x14, "MHz")},
		row{"Current Speed", s.measured(0x16, "MHz")}, row{"Status", words}, row{"Serial Number", s.said(0x20)},
		row{"Asset Tag", s.said(0x21)},
		row{"Part Number", s.said(0x22)}, row{"Core Count", s.counted(0x23, 0x2a)},
		row{"Core Enabled", s.counted(0x24, 0x2c)},
		row{"Thread Count", s.counted(0x25, 0x2e)},
	)
}

// arrayWords describes a memory array (DSP0134 7.17).
func arrayWords(s structure) map[string]any {
	capacity := ""
	if kb, ok := s.u32(0x07); ok && kb != 0x80000000 {
		capacity = bytesWords(uint64(kb) << 10)
	} else if bytes, ok := s.u64(0x0f); ok {
		capacity = bytesWords(bytes)
	}
	m := rows(s, row{"Location", s.word(0x04, arrayLocations())}, row{"Use", s.word(0x05, arrayUses())},
		row{"Error Correction Type", s.word(0x06, arrayCorrections())}, row{"Maximum Capacity", capacity})
	delete(m, "Handle") // it stands for all of them
	return m
}

// moduleWords describes a slot for a memory module (DSP0134 7.18).
func moduleWords(s structure) map[string]any {
	size := "No Module Installed"
	if raw, ok := s.u16(0x0c); ok && raw == 0xffff {
		size = "Unknown"
	} else if kb := moduleKB(s); kb > 0 {
		size = bytesWords(uint64(kb) << 10)
	}
	array := ""
	if h, ok := s.u16(0x04); ok {
		array = fmt.Sprintf("0x%04X", h)
	}
	return rows(s,
		row{"Array Handle", array}, row{"Total Width", s.measured(0x08, "bits")},
		row{"Data Width", s.measured(0x0a, "bits")}, row{"Size", size},
		row{"Form Factor", s.word(0x0e, moduleForms())}, row{"Locator", s.said(0x10)}, row{"Bank Locator", s.said(0x11)},
		row{"Type", s.word(0x12, moduleTypes())}, row{"Speed", s.measured(0x15, "MT/s")}, row{"Manufacturer", s.said(0x17)},
		row{"Serial Number", s.said(0x18)}, row{"Asset Tag", s.said(0x19)}, row{"Part Number", s.said(0x1a)},
		row{"Configured Memory Speed", s.measured(0x20, "MT/s")},
	)
}

// said is a text as dmidecode prints it.
func (s structure) said(at int) string {
	if t := s.text(at); t != "" || len(s.data) <= at {
		return t
	}
	return "Not Specified"
}

// word is the name of a number.
func (s structure) word(at int, names []string) string {
	n, ok := s.u8(at)
	if !ok {
		return ""
	}
	return word(n, names)
}

func word(n byte, names []string) string {
	if int(n) >= len(names) || names[n] == "" {
		return "<OUT OF SPEC>"
	}
	return names[n]
}

// measured is a number with its unit.
func (s structure) measured(at int, unit string) string {
	n, ok := s.u16(at)
	switch {
	case !ok:
		return ""
	case n == 0 || n == 0xffff:
		return "Unknown"
	}
	return fmt.Sprintf("%d %s", n, unit)
}

// counted is a number of one byte, or where that is full of two.
func (s structure) counted(at, wide int) string {
	n, ok := s.u8(at)
	count := uint16(n)
	if n == 0xff {
		if w, has := s.u16(wide); has {
			count = w
		}
	}
	if !ok || count == 0 {
		return ""
	}
	return fmt.Sprint(count)
}

// revision is two numbers; 255.255 is none.
func (s structure) revision(at int) string {
	v, ok := s.u16(at)
	if !ok || v == 0xffff {
		return ""
	}
	return fmt.Sprintf("%d.%d", v&0xff, v>>8)
}

// bytesWords is a number of bytes in the largest unit it is a multiple of.
func bytesWords(n uint64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB"}
	i := 0
	for n != 0 && n%1024 == 0 && i < len(units)-1 {
		n, i = n/1024, i+1
	}
	return fmt.Sprintf("%d %s", n, units[i])
}
