// Package placeholder recognizes the values that firmware writes where it has none: "N/A", "To be filled by O.E.M.",
// 00:00:00:00:00:00. The agent uses it for SMBIOS and sysfs, the conductor for BMCs.
//
// Use it before a value becomes an identity, an address, or the first of several sources. Do not use it to empty
// fields of an inventory document: Ironic shows these as the machine reported them.
package placeholder

import (
	"encoding/hex"
	"net"
	"slices"
	"strings"
)

// words are the placeholders, in small letters, with single blanks, without dots, quotes and brackets.
var words = []string{
	"", "n/a", "na", "nil", "null", "none", "empty", "absent", "invalid", "unknown", "undefined", "unspecified",
	"no value", "not applicable", "not available", "not defined", "not known", "not present", "not programmed",
	"not provided", "not set", "not settable", "not specified", "not supported", "no asset tag", "no asset information",
	"default", "default string", "to be filled by oem", "to be filled by o e m", "to be filled", "fill by oem", "oem",
	"bad index", "out of spec", "tbd", "string", // the middle ones are dmidecode's
	// ASUS, Supermicro and AMI name the field in its own place.
	"system manufacturer", "system product name", "system version", "system serial number", "system sku", "sku",
	"base board serial number", "board serial number", "chassis serial number", "serial number", "asset tag",
	"asset-1234567890", "sernum", "manufacturer00",
	"12345678", "123456789", "1234567890", "0123456789", "01234567890", "0123456789abcdef",
	"01234567890123456789",
}

// Text is a text that firmware or a BMC reports, without blanks and NUL bytes at its ends; "" for a placeholder. Case,
// blanks, and one digit repeated to any length do not matter.
func Text(said string) string {
	said = strings.Trim(said, " \t\r\n\x00")
	plain := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`.,"'()[]{}<>`, r) || r < ' ' || r == '\ufffd' {
			return -1
		}
		return r
	}, strings.ToLower(said))
	plain = strings.ReplaceAll(strings.Join(strings.Fields(plain), " "), "_", " ")
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -:/*?#~", r) {
			return -1
		}
		return r
	}, strings.TrimPrefix(plain, "0x"))
	filled := strings.Trim(digits, "0") == "" || len(digits) >= 4 && (strings.Trim(digits, "f") == "" ||
		strings.Trim(digits, "x") == "")
	if filled || slices.Contains(words, plain) {
		return ""
	}
	return said
}

// MAC is the address of an Ethernet interface as ports have it, in small letters with colons; "" for a text that is
// none, for all zeros, and for the address of a group, which all ones is too (IEEE 802-2014, 8.2). It takes colons,
// dashes, dots, or twelve digits alone.
func MAC(said string) string {
	said = strings.TrimSpace(said)
	address, err := net.ParseMAC(said)
	if err != nil {
		address, err = hex.DecodeString(said)
	}
	if err != nil || len(address) != 6 || address[0]&1 == 1 || [6]byte(address) == ([6]byte{}) {
		return ""
	}
	return net.HardwareAddr(address).String()
}
