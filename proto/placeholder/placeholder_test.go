package placeholder

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for _, said := range []string{
		"", "  ", "\x00\x00", "N/A", " n/a ", "NA", "None", "(none)", "NULL", "Unknown", "UNKNOWN ", "Not Specified",
		"Not  Specified", "Not Available", "NOT AVAILABLE", "Not Present", "Default string", "Default_string",
		"To be filled by O.E.M.", "To Be Filled By O.E.M.", "To be filled by OEM", "System Serial Number",
		"System manufacturer", "<BAD INDEX>", "<OUT OF SPEC>", "[Empty]", "0", "00000000", "0x00000000", "FFFFFFFF",
		"0xFFFF", "ffff-ffff", "----",
		"....", "xxxxxxxx", "XX-XX-XX", "*****", "0123456789", "1234567890", "0123456789ABCDEF",
		"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "00:00:00:00:00:00",
		"\ufffd\ufffd\ufffd\ufffd", "Not Settable",
	} {
		if got := Text(said); got != "" {
			t.Errorf("Text(%q) = %q, want a placeholder", said, got)
		}
	}
	for said, want := range map[string]string{
		" PowerEdge R650 ": "PowerEdge R650", "CZ12345678": "CZ12345678", "S4F00000": "S4F00000", "FFX7": "FFX7", "X": "X",
		"Nashville": "Nashville", "NA-1": "NA-1", "1": "1", "QEMU\x00": "QEMU", "000000001": "000000001",
		"NONE-SUCH": "NONE-SUCH", "Größe": "Größe", "0123456789A": "0123456789A", "Serial Number 7": "Serial Number 7",
	} {
		if got := Text(said); got != want {
			t.Errorf("Text(%q) = %q, want %q", said, got, want)
		}
	}
}

func TestMAC(t *testing.T) {
	for said, want := range map[string]string{
		"52:54:00:CC:00:01": "52:54:00:cc:00:01", "52-54-00-cc-00-01": "52:54:00:cc:00:01",
		"5254.00cc.0001": "52:54:00:cc:00:01", " 525400CC0001\n": "52:54:00:cc:00:01",
		"00:00:00:00:00:01": "00:00:00:00:00:01", "0C:C4:7A:00:00:00": "0c:c4:7a:00:00:00",
		"": "", "N/A": "", "Not Available": "", "00:00:00:00:00:00": "", "000000000000": "", "FF:FF:FF:FF:FF:FF": "",
		"01:80:c2:00:00:0e": "", "52:54:00:cc:00": "", "52:54:00:cc:00:01:02:03": "", "52:54:00:cc:00:0g": "",
		strings.Repeat("00:", 19) + "01": "", // InfiniBand
	} {
		if got := MAC(said); got != want {
			t.Errorf("MAC(%q) = %q, want %q", said, got, want)
		}
	}
}

func FuzzPlaceholder(f *testing.F) {
	f.Add("To be filled by O.E.M.")
	f.Add("52-54-00-CC-00-01")
	f.Add("\xff\x00 0x")
	f.Fuzz(func(t *testing.T, said string) {
		if value := Text(said); value != "" && Text(value) != value {
			t.Errorf("Text(%q) = %q, which is not taken", said, value)
		}
		if mac := MAC(said); mac != "" && MAC(mac) != mac {
			t.Errorf("MAC(%q) = %q, which is not taken", said, mac)
		}
	})
}
