package erase

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// The ATA commands (ACS-3), sent by ATA PASS-THROUGH (16) (SAT-3, section 12.2).
const (
	ataTrustedReceive   = 0x5c
	ataIdentify         = 0xec
	ataSetPassword      = 0xf1
	ataUnlock           = 0xf2
	ataErasePrepare     = 0xf3
	ataEraseUnit        = 0xf4
	ataDisablePassword  = 0xf6
	ataSector           = 512
	ataNonData          = 3 // protocols of SAT
	ataPIOIn            = 4
	ataPIOOut           = 5
	ataCheck            = 1 << 5 // return the drive's registers
	ataOneSectorIn      = 1<<3 | 1<<2 | 2
	ataOneSectorOut     = 1<<2 | 2
	ataEnhanced         = 1 << 1 // of SECURITY ERASE UNIT's data
	ataStatusErr        = 1 << 0 // of the status register
	ataStatusFault      = 1 << 5
	ataMinutesPerUnit   = 2
	ataLeastEraseMinute = 120
)

// ataIdentifyCommand reads IDENTIFY DEVICE data.
func ataIdentifyCommand() scsiCommand { return passThrough(ataIdentify, ataPIOIn, ataOneSectorIn) }

// ataTrustedCommand reads TCG level 0 discovery, so many sectors of it.
func ataTrustedCommand(sectors byte) scsiCommand {
	c := passThrough(ataTrustedReceive, ataPIOIn, ataOneSectorIn)
	c[4] = tcgProtocol   // features
	c[6] = sectors       // count
	c[10] = tcgDiscovery // LBA 15:8
	return c
}

// ataPrepareCommand is SECURITY ERASE PREPARE, without which the next is refused.
func ataPrepareCommand() scsiCommand { return passThrough(ataErasePrepare, ataNonData, ataCheck) }

// ataPasswordCommand is one of the commands that are sent a password.
func ataPasswordCommand(command byte) scsiCommand {
	return passThrough(command, ataPIOOut, ataOneSectorOut|ataCheck)
}

// passThrough wraps an ATA command.
func passThrough(command, protocol, flags byte) scsiCommand {
	c := make(scsiCommand, 16)
	c[0], c[1], c[2], c[14] = opATAPassThrough16, protocol<<1, flags, command
	if protocol != ataNonData {
		c[6] = 1 // sector
	}
	return c
}

// securityData is the data of the commands of the security feature set: the user
// password, of zeroes, at level high. hdparm and ironic-python-agent take it for NULL,
// so that each tool can undo a state that another left.
func securityData(bits uint16) []byte {
	b := make([]byte, ataSector)
	binary.LittleEndian.PutUint16(b, bits)
	return b
}

// sendATA sends a command that reports the drive's registers, and accepts success
// alone. The registers come with a check condition even then.
func (c scsiCommand) sendATA(d Drive, out []byte, timeout time.Duration) error {
	status, raw, err := d.SCSI(c, nil, out, timeout)
	if err != nil {
		return err
	}
	s, err := parseSense(raw)
	switch {
	case status == 0 && len(raw) == 0:
		return nil // a translator that reports no registers of a success
	case err != nil:
		return fmt.Errorf("ATA command %#02x: status %#02x: %w", c[14], status, err)
	case s.ata != nil && s.ata.status&(ataStatusErr|ataStatusFault) == 0:
		return nil
	case s.ata != nil:
		return fmt.Errorf("ATA command %#02x: the drive refused it (status register %#02x, error register %#02x)", c[14],
			s.ata.status, s.ata.errors)
	case status == 0 || s.key == keyNone || s.key == keyRecovered:
		return nil
	}
	return fmt.Errorf("ATA command %#02x: status %#02x, %s", c[14], status, s)
}

// ataFacts are an ATA drive's own figures.
type ataFacts struct {
	security, enabled, locked, frozen bool
	expired                           bool // too many wrong passwords since power-on
	enhanced                          bool
	trusted                           bool // has the TRUSTED commands
	zeroes                            bool // trimmed sectors read as zeroes
	normalTime, enhancedTime          time.Duration
}

// parseATAIdentify reads IDENTIFY DEVICE data (ACS-3, section 7.12).
func parseATAIdentify(b []byte) (ataFacts, error) {
	if len(b) < ataSector {
		return ataFacts{}, fmt.Errorf("IDENTIFY DEVICE data of %d bytes, expected %d", len(b), ataSector)
	}
	word := func(n int) uint16 { return binary.LittleEndian.Uint16(b[2*n:]) }
	bit := func(n, k int) bool { return word(n)>>k&1 == 1 }
	if word(82) == 0 || word(82) == 0xffff { // feature words not reported
		return ataFacts{}, nil
	}
	f := ataFacts{
		security: bit(82, 1), enabled: bit(128, 1), locked: bit(128, 2), frozen: bit(128, 3), expired: bit(128, 4),
		enhanced: bit(128, 5),
		trusted:  word(48)>>14 == 1 && bit(48, 0), zeroes: bit(69, 14) && bit(69, 5),
		normalTime: ataTime(word(89)), enhancedTime: ataTime(word(90)),
	}
	f.security = f.security && bit(128, 0)
	return f, nil
}

// ataTime is a drive's estimate of an erase; bit 15 says that the others are
// 15 and not 8. Drives estimate badly: the least is two hours, and it is
// given twice the time.
func ataTime(w uint16) time.Duration {
	const more = 255 // longer than the field can say
	units := int(w & 0xff)
	if w>>15 == 1 {
		units = int(w & 0x7fff)
	} else if units == more {
		return eraseTimeout
	}
	return time.Duration(2*max(units*ataMinutesPerUnit, ataLeastEraseMinute)) * time.Minute
}

// identifyATA asks an ATA drive to identify itself. A translator that passes no ATA
// commands hides it.
func identifyATA(d Drive) (ataFacts, error) {
	b := make([]byte, ataSector)
	err := ataIdentifyCommand().ask(d, b)
	if errors.Is(err, errNotSupported) {
		return ataFacts{}, nil
	}
	if err != nil {
		return ataFacts{}, fmt.Errorf("IDENTIFY DEVICE: %w", err)
	}
	return parseATAIdentify(b)
}
