package ramdisk

import (
	"fmt"
	"strings"
)

// Profile says for which machines a ramdisk is: the kernel it boots and the modules it brings.
type Profile struct {
	Name          string
	KernelPackage string // Debian metapackage
	Modules       []Class
	ConsoleShell  bool // the consoles give a root shell unless the recipe says otherwise
}

// Profiles are the ready-made ones.
func Profiles() []Profile { return []Profile{Lab(), Metal()} }

// ProfileNamed finds a ready-made profile.
func ProfileNamed(name string) (Profile, error) {
	var names []string
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Profile{}, fmt.Errorf("no ramdisk profile %q: expected one of %s", name, strings.Join(names, ", "))
}

// fileSystems are mounted by name, so no device asks for them. FAT needs its code
// pages, which it would ask of a modprobe program that a ramdisk does not have:
// nls_cp437 for short names, the others as Debian's default for long ones.
func fileSystems() Class {
	return Class{
		Name:     "config drives, EFI system partitions and EFI variables",
		Modules:  []string{"nls_cp437", "nls_ascii", "nls_iso8859_1", "nls_utf8", "vfat", "isofs", "efivarfs"},
		Required: true, Load: true,
	}
}
