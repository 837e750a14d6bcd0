package erase

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// TestCommandBytes pins the bytes sent to drives: these bytes erase.
func TestCommandBytes(t *testing.T) {
	var out strings.Builder
	plain, extended := nvmeNamespace{flbas: 0x01}, nvmeNamespace{flbas: 0x32, dps: 0x0a}
	for _, c := range []struct {
		name    string
		command nvmeCommand
	}{
		{"identify controller", identifyCommand(cnsController, 0)},
		{"identify namespace 1", identifyCommand(cnsNamespace, 1)},
		{"active namespaces", identifyCommand(cnsActive, 0)},
		{"allocated namespaces", identifyCommand(cnsAllocated, 0)},
		{"format 1, user data", formatCommand(1, plain, sesUserData)},
		{"format 1, crypto", formatCommand(1, plain, sesCrypto)},
		{"format 2 of an extended format with protection, user data", formatCommand(2, extended, sesUserData)},
		{"sanitize, block erase", sanitizeCommand(sanBlock)},
		{"sanitize, crypto erase", sanitizeCommand(sanCrypto)},
		{"sanitize, exit failure mode", sanitizeCommand(sanExitFailure)},
		{"sanitize status log page", sanitizeLogCommand()},
		{"security receive, level 0 discovery", securityReceiveCommand(tcgSize)},
	} {
		b := sqe(c.command)
		fmt.Fprintf(&out, "nvme %s\n  opcode %02x nsid % x cdw10-15 % x\n", c.name, b[0], b[4:8], b[40:])
	}
	for _, c := range []struct {
		name    string
		command scsiCommand
		data    []byte
	}{
		{"identify device", ataIdentifyCommand(), nil},
		{"trusted receive, level 0 discovery", ataTrustedCommand(tcgSize / ataSector), nil},
		{"security set password", ataPasswordCommand(ataSetPassword), securityData(0)},
		{"security unlock", ataPasswordCommand(ataUnlock), securityData(0)},
		{"security erase prepare", ataPrepareCommand(), nil},
		{"security erase unit", ataPasswordCommand(ataEraseUnit), securityData(0)},
		{"security erase unit, enhanced", ataPasswordCommand(ataEraseUnit), securityData(ataEnhanced)},
		{"security disable password", ataPasswordCommand(ataDisablePassword), securityData(0)},
		{"scsi vpd page b2", vpdCommand(pageProvision, 64), nil},
		{"scsi report supported operation codes, sanitize overwrite", supportedCommand(opSanitize, scsiOverwrite, 20), nil},
		{"scsi sanitize, overwrite", scsiSanitizeCommand(scsiOverwrite, 8), overwriteParams()},
		{"scsi sanitize, block erase", scsiSanitizeCommand(scsiBlockErase, 0), nil},
		{"scsi sanitize, crypto erase", scsiSanitizeCommand(scsiCryptoErase, 0), nil},
		{"scsi sanitize, exit failure mode", scsiSanitizeCommand(scsiExitFailure, 0), nil},
		{"scsi request sense", requestSenseCommand(), nil},
		{"scsi security protocol in, level 0 discovery", securityInCommand(tcgSize), nil},
	} {
		fmt.Fprintf(&out, "%s\n  % x\n", c.name, []byte(c.command))
		if c.data != nil {
			fmt.Fprintf(&out, "  with %d bytes, the first % x\n", len(c.data), c.data[:8])
		}
	}
	golden(t, "commands.txt", out.String())
}

// identify is IDENTIFY DEVICE data with some words set.
func identify(words map[int]uint16) []byte {
	b := make([]byte, ataSector)
	for n, w := range words {
		b[2*n], b[2*n+1] = byte(w), byte(w>>8)
	}
	return b
}

func TestParseATAIdentify(t *testing.T) {
	for name, c := range map[string]struct {
		words map[int]uint16
		want  ataFacts
	}{
		"QEMU, no security": {map[int]uint16{82: 0x4021, 89: 0},
			ataFacts{normalTime: 4 * time.Hour, enhancedTime: 4 * time.Hour}},
		"nothing reported": {map[int]uint16{82: 0xffff, 128: 0xffff}, ataFacts{}},
		"SSD, frozen": {map[int]uint16{82: 0x746b, 128: 0x0029, 89: 1, 90: 1},
			ataFacts{security: true, frozen: true, enhanced: true, normalTime: 4 * time.Hour, enhancedTime: 4 * time.Hour}},
		"disk, locked": {map[int]uint16{82: 0x746b, 128: 0x0007, 89: 200, 90: 0x8200}, ataFacts{security: true,
			enabled: true, locked: true, normalTime: 800 * time.Minute, enhancedTime: 2048 * time.Minute}},
		"longer than it can say": {map[int]uint16{82: 2, 128: 0x0011, 89: 255},
			ataFacts{security: true, expired: true, normalTime: eraseTimeout, enhancedTime: 4 * time.Hour}},
		"zeroes after trim, TCG": {map[int]uint16{82: 2, 69: 0x4020, 48: 0x4001},
			ataFacts{zeroes: true, trusted: true, normalTime: 4 * time.Hour, enhancedTime: 4 * time.Hour}},
	} {
		got, err := parseATAIdentify(identify(c.words))
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(ataFacts{})); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	if _, err := parseATAIdentify(make([]byte, 100)); err == nil {
		t.Error("100 bytes were taken for IDENTIFY DEVICE data")
	}
}

func TestParseSense(t *testing.T) {
	for name, c := range map[string]struct {
		raw        []byte
		want       sense
		sanitizing bool
	}{
		"fixed, sanitize half done": {
			[]byte{0x70, 0, 2, 0, 0, 0, 0, 10, 0, 0, 0, 0, 4, 0x1b, 0, 0x80, 0x80, 0},
			sense{key: 2, asc: 4, ascq: 0x1b, progress: 0.5}, true},
		"descriptor, sanitize a quarter done": {
			[]byte{0x72, 2, 4, 0x1b, 0, 0, 0, 8, 2, 6, 0, 0, 0x80, 0x40, 0, 0},
			sense{key: 2, asc: 4, ascq: 0x1b, progress: 0.25}, true},
		"fixed, sanitize failed": {
			[]byte{0x70, 0, 3, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x31, 3, 0, 0, 0, 0},
			sense{key: 3, asc: 0x31, ascq: 3, progress: -1}, false},
		"ATA registers": {
			[]byte{0x72, 0xb, 0, 0, 0, 0, 0, 14, 9, 12, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x51},
			sense{key: 0xb, progress: -1, ata: &ataReturn{4, 0x51}}, false},
		"cut short": {[]byte{0x72, 5, 0x20, 0, 0, 0, 0, 8, 2, 6, 0}, sense{key: 5, asc: 0x20, progress: -1}, false},
	} {
		got, err := parseSense(c.raw)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(sense{}, ataReturn{})); err != nil || diff != "" ||
			got.sanitizing() != c.sanitizing {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	for _, raw := range [][]byte{nil, {0x70}, {0x7f, 0, 0, 0, 0, 0, 0, 0}} {
		if _, err := parseSense(raw); err == nil {
			t.Errorf("% x was taken for sense data", raw)
		}
	}
}

// discovery is TCG level 0 discovery of a drive with features of a kind before
// the one about locking.
func discovery(locking byte) []byte {
	b := make([]byte, tcgHeader)
	b = append(b, 0, 1, 0x10, 12, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)       // TPer
	b = append(b, 0, 2, 0x10, 12, locking, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) // locking
	b[3] = byte(len(b) - 4)
	return append(b, make([]byte, 100)...)
}

func TestParseDiscovery(t *testing.T) {
	for flags, want := range map[byte]bool{0x01: false, 0x09: false, 0x0b: false, 0x0f: true, 0x04: false} {
		if got := parseDiscovery(discovery(flags)); got != want {
			t.Errorf("flags %#x: locked %v", flags, got)
		}
	}
	if parseDiscovery(nil) || parseDiscovery(make([]byte, 200)) {
		t.Error("no discovery says locked")
	}
}

// FuzzParsed: any answer of a disk is read or refused.
func FuzzParsed(f *testing.F) {
	f.Add(identify(map[int]uint16{82: 0x746b, 128: 0x29}))
	f.Add(discovery(0x0f))
	f.Add([]byte{0x72, 2, 4, 0x1b, 0, 0, 0, 8, 2, 6, 0, 0, 0x80, 0x40, 0, 0})
	f.Add([]byte{0x70, 0, 3, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x31, 3, 0, 0, 0, 0})
	f.Add([]byte{0, pageProvision, 0, 4, 0, 0xe4})
	f.Add(make([]byte, identifySize))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := parseSense(b); err == nil && s.progress >= 1 {
			t.Errorf("progress %v", s.progress)
		}
		if s, err := parseSanitizeStatus(b); err == nil && (s.progress < 0 || s.progress >= 1) {
			t.Errorf("progress %v", s.progress)
		}
		if a, err := parseATAIdentify(b); err == nil && (a.normalTime < 0 || a.enhancedTime < 0) {
			t.Errorf("times %v and %v", a.normalTime, a.enhancedTime)
		}
		if n := parseNamespaces(b); n > len(b)/4 {
			t.Errorf("%d namespaces in %d bytes", n, len(b))
		}
		_, _ = parseController(b)
		_, _ = parseNamespace(b)
		_ = parseDiscovery(b)
		_ = parseSupported(b)
		_ = parseProvisioning(b)
	})
}
