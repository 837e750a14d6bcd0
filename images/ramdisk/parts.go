package ramdisk

import (
	"slices"
	"strings"
)

// Part is one part of a ramdisk.
type Part struct {
	Name  string `json:"name"`
	Files int    `json:"files"`
	Size  int64  `json:"size"` // in bytes, before compression
}

// partNames are the parts by their files, in the order of the report. The first that fits counts.
var partNames = []struct{ prefix, name string }{
	{"init", "agent"},
	{"bin/bb", "console commands"},
	{"lib/modules/", "modules"},
	{firmwarePlace + "/", "firmware"},
	{toolPlace + "/", rescuePart},
	{"lib/", rescuePart},
	{"lib64/", rescuePart},
	{"usr/share/doc/", "licences"},
	{"", "other"},
}

// microcodePart is not in the tree, and not compressed.
const microcodePart = "microcode"

// rescuePart is the rescue tools with their libraries.
const rescuePart = "rescue tools"

// partSizes counts files and bytes of each part.
type partSizes map[string]Part

func (p partSizes) add(name string, size int64) {
	if size == 0 {
		return
	}
	for _, part := range partNames {
		if strings.HasPrefix(name, part.prefix) {
			p[part.name] = Part{Name: part.name, Files: p[part.name].Files + 1, Size: p[part.name].Size + size}
			return
		}
	}
}

func (p partSizes) list(microcode int) (parts []Part) {
	for _, part := range partNames {
		if found, ok := p[part.name]; ok && !slices.Contains(parts, found) {
			parts = append(parts, found)
		}
	}
	if microcode > 0 {
		parts = append(parts, Part{Name: microcodePart, Files: 1, Size: int64(microcode)})
	}
	return parts
}
