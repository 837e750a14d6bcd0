package dhcp

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

const (
	classPXE  = "PXEClient"  // option 60 of PXE 2.1 firmware
	classHTTP = "HTTPClient" // option 60 of UEFI 2.5 HTTP boot
)

// clientOf reads the kind of machine from a request, and its own description.
func clientOf(req *dhcpv4.DHCPv4) pxe.Client {
	c := machineOf(req)
	c.Detail = detail(req)
	return c
}

// machineOf reads the kind of machine from a request: architecture and firmware.
func machineOf(req *dhcpv4.DHCPv4) pxe.Client {
	arch, hasArch := archOf(req)
	c := pxe.Client{MAC: req.ClientHWAddr, Arch: arch, Firmware: pxe.System}
	class := req.ClassIdentifier()
	switch {
	case isIPXE(req): // first, since iPXE also says PXEClient
		c.Firmware = pxe.IPXE
	case strings.HasPrefix(class, classHTTP):
		c.Firmware = pxe.UEFIHTTP
	case (strings.HasPrefix(class, classPXE) || hasArch) && arch == 0:
		c.Firmware = pxe.BIOS
	case strings.HasPrefix(class, classPXE) || hasArch:
		c.Firmware = pxe.UEFI
	}
	return c
}

// isIPXE knows iPXE by its own option space (175) or its user class (77),
// which it sends without the length byte RFC 3004 asks for.
func isIPXE(req *dhcpv4.DHCPv4) bool {
	return req.Options.Has(dhcpv4.OptionEtherboot) ||
		bytes.Contains(req.Options.Get(dhcpv4.OptionUserClassInformation), []byte("iPXE"))
}

// archOf reads the first entry of option 93. Some ROMs name the architecture only in their class:
// "PXEClient:Arch:00007:UNDI:003016".
func archOf(req *dhcpv4.DHCPv4) (uint16, bool) {
	if v := req.Options.Get(dhcpv4.OptionClientSystemArchitectureType); len(v) >= 2 {
		return binary.BigEndian.Uint16(v), true
	}
	_, word, _ := strings.Cut(req.ClassIdentifier(), ":")
	name, word, more := strings.Cut(word, ":")
	if !more || name != "Arch" {
		return 0, false
	}
	word, _, _ = strings.Cut(word, ":")
	n, err := strconv.ParseUint(word, 10, 16)
	return uint16(n), err == nil
}

// detail is the machine's own word for itself, made fit for a log line.
func detail(req *dhcpv4.DHCPv4) string {
	word := req.ClassIdentifier()
	if isIPXE(req) {
		word = "iPXE " + word
	}
	word = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, word)
	return word[:min(len(word), 64)]
}
