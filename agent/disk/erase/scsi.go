package erase

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// scsiCommand is a command block (SPC-4, SBC-4).
type scsiCommand []byte

// The operation codes and their arguments.
const (
	opRequestSense     = 0x03
	opInquiry          = 0x12
	opSanitize         = 0x48
	opATAPassThrough16 = 0x85
	opSecurityIn       = 0xa2
	opMaintenanceIn    = 0xa3

	saReportOpcodes = 0x0c // of MAINTENANCE IN
	pageProvision   = 0xb2 // vital product data: logical block provisioning
	senseBytes      = 252
)

// SANITIZE's service actions.
const (
	scsiOverwrite   = 0x01
	scsiBlockErase  = 0x02
	scsiCryptoErase = 0x03
	scsiExitFailure = 0x1f

	sanitizeImmediate = 1 << 7 // answer at once; REQUEST SENSE then reports progress
	sanitizeAUSE      = 1 << 5 // allow unrestricted sanitize exit
)

// vpdCommand asks for a page of vital product data.
func vpdCommand(page byte, size uint16) scsiCommand {
	return scsiCommand{opInquiry, 1, page, byte(size >> 8), byte(size), 0}
}

// supportedCommand asks whether the device has one service action.
func supportedCommand(op byte, action uint16, size uint32) scsiCommand {
	const opcodeAndAction = 2 // reporting options
	c := scsiCommand{opMaintenanceIn, saReportOpcodes, opcodeAndAction, op, 0, 0, 0, 0, 0, 0, 0, 0}
	binary.BigEndian.PutUint16(c[4:], action)
	binary.BigEndian.PutUint32(c[6:], size)
	return c
}

// scsiSanitizeCommand begins a sanitize operation; params is the size of its parameter
// list.
func scsiSanitizeCommand(action byte, params uint16) scsiCommand {
	flags := byte(sanitizeImmediate | sanitizeAUSE)
	if action == scsiExitFailure {
		flags = 0
	}
	return scsiCommand{opSanitize, flags | action, 0, 0, 0, 0, 0, byte(params >> 8), byte(params), 0}
}

// overwriteParams has an overwrite done once, with zeroes.
func overwriteParams() []byte { return []byte{1, 0, 0, 4, 0, 0, 0, 0} }

// requestSenseCommand asks how the sanitize operation is doing.
func requestSenseCommand() scsiCommand { return scsiCommand{opRequestSense, 0, 0, 0, senseBytes, 0} }

// securityInCommand reads TCG level 0 discovery.
func securityInCommand(size uint32) scsiCommand {
	c := scsiCommand{opSecurityIn, tcgProtocol, 0, tcgDiscovery, 0, 0, 0, 0, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(c[6:], size)
	return c
}

// sense is a device's sense data about a command or itself.
type sense struct {
	key, asc, ascq byte
	progress       float64 // 0 to 1; below 0 when not reported
	ata            *ataReturn
}

// ataReturn is an ATA drive's registers after a command.
type ataReturn struct{ errors, status byte }

// Sense keys and codes that matter here (SPC-4, annex F).
const (
	keyNone        = 0x0
	keyRecovered   = 0x1
	keyNotReady    = 0x2
	keyIllegal     = 0x5
	checkCondition = 2 // a status
)

// parseSense reads sense data of fixed or descriptor format.
func parseSense(b []byte) (sense, error) {
	s := sense{progress: -1}
	if len(b) < 8 {
		return s, fmt.Errorf("sense data of %d bytes, expected at least 8", len(b))
	}
	switch b[0] & 0x7f {
	case 0x70, 0x71:
		s.key = b[2] & 0x0f
		if len(b) >= 14 {
			s.asc, s.ascq = b[12], b[13]
		}
		if len(b) >= 18 {
			s.progress = progressOf(b[15:18])
		}
	case 0x72, 0x73:
		s.key, s.asc, s.ascq = b[1]&0x0f, b[2], b[3]
		for rest := b[8:]; len(rest) >= 2; rest = rest[min(2+int(rest[1]), len(rest)):] {
			switch body := rest[2:min(2+int(rest[1]), len(rest))]; {
			case rest[0] == 0x02 && len(body) >= 5: // sense key specific
				s.progress = progressOf(body[2:5])
			case rest[0] == 0x09 && len(body) >= 12: // ATA status return
				s.ata = &ataReturn{errors: body[1], status: body[11]}
			}
		}
	default:
		return s, fmt.Errorf("sense data of response code %#02x, expected 70h to 73h", b[0]&0x7f)
	}
	return s, nil
}

// progressOf reads a sense key specific field with its validity bit set.
func progressOf(b []byte) float64 {
	if b[0]&0x80 == 0 {
		return -1
	}
	return float64(binary.BigEndian.Uint16(b[1:])) / (1 << 16)
}

// sanitizing reports whether a sanitize operation is under way (04h/1Bh).
func (s sense) sanitizing() bool { return s.key == keyNotReady && s.asc == 0x04 && s.ascq == 0x1b }

// String is sense data as documents write it.
func (s sense) String() string {
	return fmt.Sprintf("sense key %Xh, code %02Xh/%02Xh", s.key, s.asc, s.ascq)
}

// errNotSupported is wrapped when a device does not know a command.
var errNotSupported = errors.New("the device does not have this command")

// ask sends a command that reads into in, and accepts success alone.
func (c scsiCommand) ask(d Drive, in []byte) error { return c.send(d, in, nil, askTimeout) }

// send sends the command and accepts success alone.
func (c scsiCommand) send(d Drive, in, out []byte, timeout time.Duration) error {
	status, raw, err := d.SCSI(c, in, out, timeout)
	if err != nil || status == 0 {
		return err
	}
	s, err := parseSense(raw)
	switch {
	case err != nil:
		return fmt.Errorf("scsi command %#02x: status %#02x: %w", c[0], status, err)
	case s.key == keyNone || s.key == keyRecovered:
		return nil
	case s.key == keyIllegal:
		return fmt.Errorf("scsi command %#02x: %w: %s", c[0], errNotSupported, s)
	}
	return fmt.Errorf("scsi command %#02x: status %#02x, %s", c[0], status, s)
}

// scsiFacts are a SCSI disk's own figures.
type scsiFacts struct {
	sanitize map[byte]bool // by service action
	zeroes   bool          // unmapped blocks read as zeroes (LBPRZ)
}

// parseSupported reads the answer about one command: supported as the
// standard has it, or else not at all.
func parseSupported(b []byte) bool { return len(b) >= 2 && b[1]&7 == 3 }

// parseProvisioning reports whether unmapped blocks read as zeroes.
func parseProvisioning(b []byte) bool {
	return len(b) >= 6 && b[1] == pageProvision && b[5]>>2&1 == 1
}

// probeSCSI asks a SCSI disk for its capabilities. A disk that cannot answer has no
// special ones.
func probeSCSI(d Drive) (*scsiFacts, error) {
	f := &scsiFacts{sanitize: map[byte]bool{}}
	raw := make([]byte, senseBytes)
	if err := requestSenseCommand().ask(d, raw); err == nil {
		if s, err := parseSense(raw); err == nil && s.sanitizing() {
			return nil, busySanitizing(s.progress)
		}
	}
	for _, action := range []byte{scsiOverwrite, scsiBlockErase, scsiCryptoErase} {
		b := make([]byte, 20)
		err := supportedCommand(opSanitize, uint16(action), uint32(len(b))).ask(d, b)
		if errors.Is(err, errNotSupported) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("ask for SANITIZE: %w", err)
		}
		f.sanitize[action] = parseSupported(b)
	}
	b := make([]byte, 64)
	if err := vpdCommand(pageProvision, uint16(len(b))).ask(d, b); err == nil {
		f.zeroes = parseProvisioning(b)
	} else if !errors.Is(err, errNotSupported) {
		return nil, fmt.Errorf("read VPD page B2h: %w", err)
	}
	return f, nil
}
