package erase

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// nvmeCommand is an NVMe admin command (NVMe base specification 2.0, section 5).
type nvmeCommand struct {
	opcode uint8
	nsid   uint32
	cdw    [6]uint32 // 10 to 15
}

// The opcodes and their arguments.
const (
	nvmeGetLogPage      = 0x02
	nvmeIdentify        = 0x06
	nvmeFormat          = 0x80
	nvmeSecurityReceive = 0x82
	nvmeSanitize        = 0x84

	cnsNamespace  = 0x00
	cnsController = 0x01
	cnsActive     = 0x02 // the list of active namespaces, attached to the controller
	cnsAllocated  = 0x10 // the list of all namespaces of the drive

	logSanitize     = 0x81
	logSanitizeSize = 20 // the part of the 512 bytes that is read here
	identifySize    = 4096
	anyNamespace    = 0xffffffff
)

// identifyCommand identifies a controller or namespace.
func identifyCommand(cns, nsid uint32) nvmeCommand {
	return nvmeCommand{nvmeIdentify, nsid, [6]uint32{cns}}
}

// SES, secure erase settings of Format NVM.
const (
	sesUserData = 1
	sesCrypto   = 2
)

// formatCommand formats a namespace in the format it has, with a secure erase
// setting. Without one (0) Format NVM need not erase anything.
func formatCommand(nsid uint32, ns nvmeNamespace, ses uint32) nvmeCommand {
	return nvmeCommand{nvmeFormat, nsid, [6]uint32{
		uint32(ns.flbas&0x0f) | uint32(ns.flbas>>4&1)<<4 | uint32(ns.dps&0x07)<<5 | uint32(ns.dps>>3&1)<<8 |
			ses<<9 | uint32(ns.flbas>>5&3)<<12,
	}}
}

// SANACT, the action of Sanitize.
const (
	sanExitFailure = 1
	sanBlock       = 2
	sanCrypto      = 4
	sanAUSE        = 1 << 3 // allow unrestricted sanitize exit: a failure does not lock the drive for good
)

// sanitizeCommand begins a sanitize operation; the drive continues by itself.
func sanitizeCommand(action uint32) nvmeCommand {
	c := nvmeCommand{opcode: nvmeSanitize}
	if c.cdw[0] = action; action != sanExitFailure {
		c.cdw[0] |= sanAUSE
	}
	return c
}

// sanitizeLogCommand reads the sanitize status log page.
func sanitizeLogCommand() nvmeCommand {
	return nvmeCommand{nvmeGetLogPage, anyNamespace, [6]uint32{logSanitize | (logSanitizeSize/4-1)<<16}}
}

// securityReceiveCommand reads TCG level 0 discovery.
func securityReceiveCommand(size int) nvmeCommand {
	return nvmeCommand{opcode: nvmeSecurityReceive, cdw: [6]uint32{tcgProtocol<<24 | tcgDiscovery<<8, uint32(size)}}
}

// send sends the command.
func (c nvmeCommand) send(d Drive, data []byte, timeout time.Duration) error {
	return d.NVMeAdmin(c.opcode, c.nsid, c.cdw, data, timeout)
}

// nvmeFacts are an NVMe drive's own figures.
type nvmeFacts struct {
	nsid       uint32
	namespaces int // that are known of
	controller nvmeController
	namespace  nvmeNamespace
}

// nvmeController holds the fields of Identify Controller that are used here.
type nvmeController struct {
	security, format, manage bool // commands it has (OACS)
	formatsAll, erasesAll    bool // Format NVM: of all namespaces at once (FNA)
	formatCrypto             bool // (FNA)
	sanitizeCryp, sanitizeBl bool // (SANICAP)
}

// parseController reads Identify Controller.
func parseController(b []byte) (nvmeController, error) {
	if len(b) < 525 {
		return nvmeController{}, fmt.Errorf("identify controller data of %d bytes, expected %d", len(b), identifySize)
	}
	oacs, fna, sanicap := binary.LittleEndian.Uint16(b[256:]), b[524], binary.LittleEndian.Uint32(b[328:])
	return nvmeController{
		security: oacs&1 != 0, format: oacs&2 != 0, manage: oacs&8 != 0,
		formatsAll: fna&1 != 0, erasesAll: fna&2 != 0, formatCrypto: fna&4 != 0,
		sanitizeCryp: sanicap&1 != 0, sanitizeBl: sanicap&2 != 0,
	}, nil
}

// nvmeNamespace holds the fields of Identify Namespace that are used here.
type nvmeNamespace struct {
	flbas, dps byte
	zeroes     bool // deallocated blocks read as zeroes (DLFEAT)
	protected  bool // write protected (NSATTR)
}

// parseNamespace reads Identify Namespace.
func parseNamespace(b []byte) (nvmeNamespace, error) {
	if len(b) < 100 {
		return nvmeNamespace{}, fmt.Errorf("identify namespace data of %d bytes, expected %d", len(b), identifySize)
	}
	return nvmeNamespace{flbas: b[26], dps: b[29], zeroes: b[33]&7 == 1, protected: b[99]&1 != 0}, nil
}

// parseNamespaces counts the namespaces of a list.
func parseNamespaces(b []byte) int {
	n := 0
	for ; len(b) >= 4 && binary.LittleEndian.Uint32(b) != 0; b = b[4:] {
		n++
	}
	return n
}

// sanitizeStatus is the sanitize status log page.
type sanitizeStatus struct {
	progress float64 // 0 to 1
	state    byte    // SSTAT bits 2:0
}

// States of the last sanitize operation.
const (
	sanDone            = 1
	sanInProgress      = 2
	sanFailed          = 3
	sanDoneDeallocated = 4
)

// parseSanitizeStatus reads the sanitize status log page.
func parseSanitizeStatus(b []byte) (sanitizeStatus, error) {
	if len(b) < 4 {
		return sanitizeStatus{}, fmt.Errorf("sanitize status log page of %d bytes, expected %d", len(b), logSanitizeSize)
	}
	return sanitizeStatus{progress: float64(binary.LittleEndian.Uint16(b)) / (1 << 16), state: b[2] & 7}, nil
}

// busySanitizing refuses a drive that still runs an earlier sanitize operation: it can
// be neither read nor written meanwhile.
func busySanitizing(share float64) error {
	return fmt.Errorf("a sanitize operation begun earlier is still under way (%.0f %%): begin anew when it is over",
		100*max(share, 0))
}

// probeNVMe identifies an NVMe drive.
func probeNVMe(d Drive, nsid uint32) (*nvmeFacts, error) {
	if nsid == 0 {
		return nil, errors.New("sysfs does not say which namespace this is")
	}
	f := &nvmeFacts{nsid: nsid}
	b := make([]byte, identifySize)
	if err := identifyCommand(cnsController, 0).send(d, b, askTimeout); err != nil {
		return nil, fmt.Errorf("identify the controller: %w", err)
	}
	var err error
	if f.controller, err = parseController(b); err != nil {
		return nil, err
	}
	if err := identifyCommand(cnsNamespace, nsid).send(d, b, askTimeout); err != nil {
		return nil, fmt.Errorf("identify namespace %d: %w", nsid, err)
	}
	if f.namespace, err = parseNamespace(b); err != nil {
		return nil, err
	}
	lists := []uint32{cnsActive}
	if f.controller.manage { // others may be attached to another controller, which another machine uses
		lists = append(lists, cnsAllocated)
	}
	for _, cns := range lists {
		if err := identifyCommand(cns, 0).send(d, b, askTimeout); err != nil {
			return nil, fmt.Errorf("list the namespaces (CNS %02xh): %w", cns, err)
		}
		f.namespaces = max(f.namespaces, parseNamespaces(b))
	}
	if !f.controller.sanitizeCryp && !f.controller.sanitizeBl {
		return f, nil
	}
	log := make([]byte, logSanitizeSize)
	if err := sanitizeLogCommand().send(d, log, askTimeout); err != nil {
		return nil, fmt.Errorf("read the sanitize status: %w", err)
	}
	s, err := parseSanitizeStatus(log)
	if err == nil && s.state == sanInProgress {
		err = busySanitizing(s.progress)
	}
	return f, err
}
