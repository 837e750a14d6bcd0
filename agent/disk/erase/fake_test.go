package erase

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const fakeSize = 2 << 20

// fake is a drive in memory that speaks NVMe, ATA and SCSI. It follows the
// specifications, unless a test makes it lie or fail.
type fake struct {
	mem   []byte
	lies  bool  // says that it is done and erases nothing
	fails error // error of the erase, when set
	polls int   // how often a sanitize operation is asked after before it is over
	sunk  bool  // throws writes away

	namespaces int // attached to the controller that is asked
	elsewhere  int // attached to other controllers of the drive, or to none
	oacs       uint16
	fna        byte
	sanicap    uint32
	dlfeat     byte
	sanitized  byte // SSTAT

	frozen, enabled, locked, prepared bool
	keepsPassword                     bool // DISABLE PASSWORD does nothing
	foreign                           bool // the password is not ours

	actions map[byte]bool // of SANITIZE
	lbprz   bool
	sense   []byte // answer of REQUEST SENSE in the end
	sent    [][]byte
}

func newFake() *fake {
	f := &fake{mem: make([]byte, fakeSize), namespaces: 1, actions: map[byte]bool{}}
	copy(f.mem, bytes.Repeat([]byte("old data "), fakeSize/9))
	return f
}

// describe is the disk as the inventory has it.
func describe(name, transport string) agentapi.Disk {
	return agentapi.Disk{Name: name, Transport: transport, Size: fakeSize, Serial: "S1"}
}

func (f *fake) ReadAt(p []byte, off int64) (int, error) {
	if f.locked {
		return 0, errors.New("locked")
	}
	return copy(p, f.mem[off:]), nil
}

func (f *fake) WriteAt(p []byte, off int64) (int, error) {
	if f.sunk {
		return len(p), nil
	}
	return copy(f.mem[off:], p), nil
}
func (f *fake) Size() int64            { return int64(len(f.mem)) }
func (f *fake) LogicalSectorSize() int { return 512 }
func (f *fake) Flush() error           { return nil }

// wipe is the erase of all methods.
func (f *fake) wipe(off, n int64, random bool) error {
	if f.fails != nil || f.lies {
		return f.fails
	}
	clear(f.mem[off : off+n])
	if random {
		_, _ = rand.NewChaCha8([32]byte{1}).Read(f.mem[off : off+n])
	}
	return nil
}

func (f *fake) Zero(off, n int64) error          { return f.wipe(off, n, false) }
func (f *fake) ZeroOut(off, n int64) error       { return f.wipe(off, n, false) }
func (f *fake) SecureDiscard(off, n int64) error { return f.wipe(off, n, false) }
func (f *fake) Discard(off, n int64) error       { return f.wipe(off, n, !f.lbprz && f.dlfeat == 0) }

func (f *fake) NVMeAdmin(opcode uint8, nsid uint32, cdw [6]uint32, data []byte, _ time.Duration) error {
	f.sent = append(f.sent, sqe(nvmeCommand{opcode, nsid, cdw}))
	switch {
	case opcode == nvmeIdentify && cdw[0] == cnsController:
		clear(data)
		binary.LittleEndian.PutUint16(data[256:], f.oacs)
		binary.LittleEndian.PutUint32(data[328:], f.sanicap)
		data[524] = f.fna
	case opcode == nvmeIdentify && cdw[0] == cnsNamespace:
		clear(data)
		data[26], data[33] = 1, f.dlfeat
	case opcode == nvmeIdentify && cdw[0] == cnsAllocated && f.oacs&8 == 0:
		return &sys.NVMeError{Opcode: opcode, Status: 2}
	case opcode == nvmeIdentify:
		clear(data)
		n := f.namespaces
		if cdw[0] == cnsAllocated {
			n += f.elsewhere
		}
		for i := range n {
			binary.LittleEndian.PutUint32(data[4*i:], uint32(i+1))
		}
	case opcode == nvmeFormat:
		return f.wipe(0, fakeSize, cdw[0]>>9&7 == sesCrypto)
	case opcode == nvmeSanitize && cdw[0]&7 == sanExitFailure:
		f.sanitized = 0
	case opcode == nvmeSanitize:
		f.sanitized = sanDone
		if f.wipe(0, fakeSize, cdw[0]&7 == sanCrypto) != nil {
			f.sanitized = sanFailed
		}
	case opcode == nvmeGetLogPage:
		data[2] = f.sanitized
		if f.polls--; f.polls >= 0 {
			data[0], data[1], data[2] = 0, 0x80, sanInProgress
		}
	default:
		return &sys.NVMeError{Opcode: opcode, Status: 1}
	}
	return nil
}

var illegal = []byte{0x72, keyIllegal, 0x20, 0, 0, 0, 0, 0}

func (f *fake) SCSI(cdb, in, out []byte, _ time.Duration) (uint8, []byte, error) {
	f.sent = append(f.sent, append(bytes.Clone(cdb), out...))
	switch {
	case cdb[0] == opATAPassThrough16:
		return f.ata(cdb, in, out)
	case cdb[0] == opMaintenanceIn:
		if f.actions[cdb[5]] {
			in[1] = 3
		}
	case cdb[0] == opInquiry && f.lbprz:
		copy(in, []byte{0, pageProvision, 0, 4, 0, 0xe4})
	case cdb[0] == opSanitize && cdb[1]&0x1f == scsiExitFailure:
		f.sense = nil
	case cdb[0] == opSanitize:
		if f.wipe(0, fakeSize, cdb[1]&0x1f == scsiCryptoErase) != nil {
			f.sense = []byte{0x70, 0, 3, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x31, 3, 0, 0, 0, 0}
		}
	case cdb[0] == opRequestSense:
		answer := f.sense
		if f.polls--; f.polls >= 0 {
			answer = []byte{0x72, keyNotReady, 0x04, 0x1b, 0, 0, 0, 8, 2, 6, 0, 0, 0x80, 0x80, 0, 0}
		}
		if answer == nil {
			answer = []byte{0x70, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
		}
		copy(in, answer)
	default:
		return checkCondition, illegal, nil
	}
	return 0, nil, nil
}

// ata is the drive's state machine (ACS-3, section 4.18).
func (f *fake) ata(cdb, in, out []byte) (uint8, []byte, error) {
	registers := func(ok bool) (uint8, []byte, error) {
		b := []byte{0x72, 1, 0, 0x1d, 0, 0, 0, 14, 9, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x50}
		if !ok {
			b[1], b[11], b[21] = 0x0b, 4, 0x51
		}
		return checkCondition, b, nil
	}
	command := cdb[14]
	if f.frozen && command != ataIdentify {
		return registers(false)
	}
	switch command {
	case ataIdentify:
		clear(in)
		word := binary.LittleEndian.PutUint16
		word(in[2*82:], 1<<1)
		state := uint16(1 | 1<<5)
		for i, on := range []bool{f.enabled, f.locked, f.frozen} {
			if on {
				state |= 1 << (i + 1)
			}
		}
		word(in[2*128:], state)
		word(in[2*89:], 200)
		return 0, nil, nil
	case ataSetPassword:
		if f.enabled && f.locked {
			return registers(false)
		}
		f.enabled = true
	case ataUnlock:
		if f.foreign {
			return registers(false)
		}
		f.locked = false
	case ataErasePrepare:
		f.prepared = true
		return registers(true)
	case ataEraseUnit:
		if !f.prepared || !f.enabled {
			return registers(false)
		}
		if f.wipe(0, fakeSize, false) != nil {
			f.locked = true
			return registers(false)
		}
		f.enabled, f.locked = false, false
	case ataDisablePassword:
		if f.locked || f.keepsPassword {
			return registers(!f.locked)
		}
		f.enabled = false
	default:
		return 0, nil, fmt.Errorf("ATA command %#02x with %d bytes: %w", command, len(out), errors.ErrUnsupported)
	}
	f.prepared = false
	return registers(true)
}

// sqe is the part of a submission queue entry that a command fills in.
func sqe(c nvmeCommand) []byte {
	b := make([]byte, 64)
	b[0] = c.opcode
	binary.LittleEndian.PutUint32(b[4:], c.nsid)
	for i, d := range c.cdw {
		binary.LittleEndian.PutUint32(b[40+4*i:], d)
	}
	return b
}
