package ipmi

import (
	"bytes"
	"fmt"
)

// netfnApp is the network function of all commands here (IPMI 2.0, table 5-1).
const netfnApp = 0x06

// The commands, by their numbers (IPMI 2.0, table G-1).
const (
	getDeviceID          = 0x01
	setUserAccess        = 0x43
	getUserAccess        = 0x44
	setUserName          = 0x45
	getUserName          = 0x46
	setUserPassword      = 0x47
	setUserPayloadAccess = 0x4c
	getUserPayloadAccess = 0x4d
)

// commandNames are for errors.
var commandNames = map[byte]string{
	getDeviceID:   "Get Device ID",
	setUserAccess: "Set User Access", getUserAccess: "Get User Access", setUserName: "Set User Name",
	getUserName: "Get User Name", setUserPassword: "Set User Password",
	setUserPayloadAccess: "Set User Payload Access", getUserPayloadAccess: "Get User Payload Access",
}

// Operations of Set User Password (22.30).
const (
	disableUser  = 0
	enableUser   = 1
	setPassword  = 2
	testPassword = 3
)

// Lengths of names and of the two forms of passwords (22.28, 22.30).
const (
	nameLength    = 16
	shortPassword = 16
	longPassword  = 20
)

// Privileges (22.26).
const (
	callbackPrivilege = 1
	administrator     = 4
	oemPrivilege      = 5
	noAccess          = 0x0f
)

// Bits of commands and answers.
const (
	slotMask        = 0x3f
	channelMask     = 0x0f
	privilegeMask   = 0x0f
	messagingBit    = 0x10
	linkBit         = 0x20
	changeAccessBit = 0x80 // the bits of access are to be changed, too
	longPasswordBit = 0x80
	solPayload      = 1 << 1 // payload type 1 (table 13-16)
)

// access is the answer to Get User Access (22.27).
type access struct {
	slots     byte // the highest user ID
	fixed     byte // users from 1 to here have names that cannot be changed
	privilege byte
	messaging bool // by IPMI over this channel
}

func decodeAccess(b []byte) (access, error) {
	if len(b) < 4 {
		return access{}, short(getUserAccess, b, 4)
	}
	return access{slots: b[0] & slotMask, fixed: b[2] & slotMask, privilege: b[3] & privilegeMask,
		messaging: b[3]&messagingBit != 0}, nil
}

// inUse reports whether the anonymous user can log in.
func (a access) inUse() bool {
	return a.messaging && a.privilege >= callbackPrivilege && a.privilege <= oemPrivilege
}

// decodeName reads the answer to Get User Name: the name ends at the first NUL, or is 16 characters long. Some BMCs
// pad with 0xff or with spaces.
func decodeName(b []byte) (string, error) {
	if len(b) < nameLength {
		return "", short(getUserName, b, nameLength)
	}
	name, _, _ := bytes.Cut(b[:nameLength], []byte{0})
	return string(bytes.TrimRight(name, "\xff ")), nil
}

// decodePayloads reports whether the user may use serial over LAN (24.7).
func decodePayloads(b []byte) (sol bool, err error) {
	if len(b) < 1 {
		return false, short(getUserPayloadAccess, b, 1)
	}
	return b[0]&solPayload != 0, nil
}

func encodeName(slot byte, name string) []byte {
	return append([]byte{slot & slotMask}, padded(name, nameLength)...)
}

// encodePassword is Set User Password with a password of 16 or 20 bytes, or with none for an operation without one.
func encodePassword(slot, operation byte, password string, length int) []byte {
	first := slot & slotMask
	if length == longPassword {
		first |= longPasswordBit
	}
	return append([]byte{first, operation}, padded(password, length)...)
}

// encodeAccess gives a user a privilege on a channel; noAccess takes all of it.
func encodeAccess(channel, slot, privilege byte) []byte {
	first := changeAccessBit | channel&channelMask
	if privilege != noAccess {
		first |= messagingBit | linkBit
	}
	return []byte{first, slot & slotMask, privilege & privilegeMask}
}

// encodeSOL lets a user use serial over LAN on a channel (24.6): the operation 00 enables payloads.
func encodeSOL(channel, slot byte) []byte {
	return []byte{channel & channelMask, slot & slotMask, solPayload, 0, 0, 0}
}

func padded(text string, length int) []byte {
	b := make([]byte, length)
	copy(b, text)
	return b
}

func short(command byte, got []byte, want int) error {
	return fmt.Errorf("%s: the BMC's answer has %d bytes, expected %d", commandNames[command], len(got), want)
}
