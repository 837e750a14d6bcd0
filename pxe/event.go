package pxe

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// Service is a part of the boot service that machines ask.
type Service string

// The services.
const (
	DHCP      Service = "dhcp"
	ProxyDHCP Service = "proxydhcp"
	TFTP      Service = "tftp"
	HTTP      Service = "http"
	Neighbour Service = "other-dhcp" // another DHCP server; its answer was heard on the boot network
)

// Event is one request on the boot network, with its answer or the reason for having none. It is
// made where the answer is decided.
type Event struct {
	ID    uint64    // ascending; set by the log that keeps it
	At    time.Time // set by that log
	Times int       // how often in a row the same came; set by that log

	Service Service
	MAC     net.HardwareAddr // nil when it is not known
	Claimed bool             // the MAC stands in the request alone, and the address that asks is not leased to it
	Known   bool             // the machine is enrolled
	IP      netip.Addr       // of the machine, as far as it has one or gets one
	Relay   netip.Addr       // zero without
	Subnet  netip.Prefix     // that answers it; zero without

	Message  string   // DISCOVER, READ, GET and so on
	Firmware Firmware // "" when the request does not show it
	Arch     uint16   // of Firmware, as Client.Arch
	File     string   // asked for

	Answer string     // "" when nothing was answered
	Server netip.Addr // the other DHCP server that this is about
	Reason Reason     // why it is not answered, or boots nothing; "" when there is nothing to say
	Detail string     // of the reason or the machine, for people
}

// archNames are the architectures of DHCP option 93 (RFC 4578 section 2.1 and IANA's registry).
var archNames = map[uint16]string{
	2: "Itanium", 6: "IA32", 7: "x64", 9: "x64", 10: "arm32", 11: "arm64", 14: "POWER OPAL", 15: "IA32", 16: "x64",
	18: "arm32", 19: "arm64", 20: "BIOS", 21: "arm32 U-Boot", 22: "arm64 U-Boot", 23: "arm32 U-Boot", 24: "arm64 U-Boot",
	25: "riscv32", 26: "riscv32", 27: "riscv64", 28: "riscv64", 29: "riscv128", 30: "riscv128",
	37: "loongarch32", 38: "loongarch32", 39: "loongarch64", 40: "loongarch64", 41: "Raspberry Pi",
}

// Machine is the firmware and the architecture in words: "UEFI x64".
func (e Event) Machine() string {
	arch, named := archNames[e.Arch]
	if !named {
		arch = fmt.Sprintf("arch %d", e.Arch)
	}
	switch e.Firmware {
	case BIOS:
		return "BIOS"
	case UEFI:
		return "UEFI " + arch
	case UEFIHTTP:
		return "HTTP " + arch
	case IPXE:
		return "iPXE"
	case System:
		return "OS"
	}
	return ""
}

// Asked is the request in words: "DISCOVER UEFI x64", "TFTP snponly.efi".
func (e Event) Asked() string {
	switch e.Service {
	case TFTP:
		return strings.TrimSpace("TFTP " + e.File)
	case HTTP:
		return e.Message + " " + shortPath(e.File)
	case Neighbour:
		return e.Message + " heard"
	case DHCP, ProxyDHCP:
	}
	return strings.TrimSpace(e.Message + " " + e.Machine())
}

// shortPath is a path of boot HTTP without the MAC, which the event has.
func shortPath(file string) string {
	if name, is := strings.CutPrefix(file, LoaderPath("")); is {
		return name
	}
	parts := strings.Split(file, "/")
	switch {
	case len(parts) == 4 && parts[1] == "boot":
		return parts[3]
	case len(parts) == 3 && parts[1] == "ipxe" && file != StartPath():
		return "script"
	}
	return file
}

// Recorder takes note of events. It must not block. It is safe for concurrent use.
type Recorder interface{ Record(e Event) }

// NoRecorder takes note of nothing.
type NoRecorder struct{}

// Record does nothing.
func (NoRecorder) Record(Event) {}
