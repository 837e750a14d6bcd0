package node

import (
	"encoding/hex"
	"strings"
)

// noSystem are default UUIDs of boards that never got their own: many machines have the same. Both byte orders of an
// entry count, and so does every UUID with all bytes equal.
var noSystem = systemKeys(
	"03000200-0400-0500-0006-000700080009", // AMI's default
	"12345678-1234-5678-90ab-cddeefaabbcc", // sample code of several vendors
	"12345678-1234-1234-1234-123456789abc",
	"11111111-2222-3333-4444-555555555555",
	"00112233-4455-6677-8899-aabbccddeeff", // the example of SMBIOS (DSP0134, 7.2.1)
	"01020304-0506-0708-090a-0b0c0d0e0f10",
	"00010203-0405-0607-0809-0a0b0c0d0e0f",
	"4c4c4544-0000-2010-8020-80c04f202020", // Dell without a service tag
)

func systemKeys(texts ...string) map[string]bool {
	all := map[string]bool{}
	for _, text := range texts {
		if raw, ok := systemBytes(text); ok {
			all[keyOfSystem(raw)] = true
		}
	}
	return all
}

// SystemUUID returns a machine's SMBIOS UUID in lower case with dashes. It returns "" for a text that is no UUID ("Not
// Settable"), and for a UUID that many machines share.
func SystemUUID(said string) string {
	raw, ok := systemBytes(said)
	if !ok || noSystem[keyOfSystem(raw)] || strings.Count(string(raw[:]), string(raw[:1])) == len(raw) {
		return ""
	}
	return dashed(raw)
}

// SystemKey is one text for both byte orders of a machine's UUID: SMBIOS 2.6 and later keep the first three fields in
// little endian, older firmware and some BMCs do not (DSP0134, 7.2.1). It is "" where SystemUUID is.
func SystemKey(said string) string {
	uuid := SystemUUID(said)
	if uuid == "" {
		return ""
	}
	raw, _ := systemBytes(uuid)
	return keyOfSystem(raw)
}

// systemBytes reads 32 hexadecimal digits, with dashes, braces or neither.
func systemBytes(text string) (raw [16]byte, ok bool) {
	text = strings.NewReplacer("-", "", "{", "", "}", "").Replace(strings.TrimSpace(text))
	if len(text) != 2*len(raw) {
		return raw, false
	}
	_, err := hex.Decode(raw[:], []byte(text))
	return raw, err == nil
}

// keyOfSystem is the smaller of both byte orders.
func keyOfSystem(raw [16]byte) string {
	o := raw
	o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7] = raw[3], raw[2], raw[1], raw[0], raw[5], raw[4], raw[7], raw[6]
	return min(dashed(raw), dashed(o))
}

func dashed(raw [16]byte) string {
	h := hex.EncodeToString(raw[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}
