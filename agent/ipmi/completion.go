package ipmi

import (
	"errors"
	"fmt"
)

// Completion codes that matter here (IPMI 2.0, table 5-2, and 22.30 for Set User Password).
const (
	codeMismatch      = 0x80
	codeWrongSize     = 0x81
	codeBusy          = 0xc0
	codeTimeout       = 0xc3
	codeLengthInvalid = 0xc7
	codeTooLong       = 0xc8
	codeNotPresent    = 0xcb
	codeInvalidField  = 0xcc
	codeInitializing  = 0xd2
)

// generic are the codes that mean the same after every command.
var generic = map[byte]string{
	codeBusy:          "the BMC is busy",
	0xc1:              "the BMC does not know this command",
	0xc2:              "the command is not valid for this logical unit",
	codeTimeout:       "the BMC could not answer in time",
	0xc4:              "the BMC is out of space",
	0xc5:              "the reservation was cancelled",
	0xc6:              "the request was cut short",
	codeLengthInvalid: "the BMC wants another length of request",
	codeTooLong:       "the request is longer than the BMC takes",
	0xc9:              "a parameter is out of the BMC's range",
	0xca:              "the BMC cannot return so many bytes",
	codeNotPresent:    "the BMC does not have the requested record",
	codeInvalidField:  "the BMC does not take a value of the request",
	0xcd:              "the command is not allowed for this user or channel",
	0xce:              "the BMC cannot answer",
	0xcf:              "the BMC has had this request already",
	0xd0:              "the BMC's data about itself is being updated",
	0xd1:              "the BMC's firmware is being updated",
	codeInitializing:  "the BMC is starting",
	0xd3:              "the destination is not available",
	0xd4:              "the BMC does not allow this command to its own machine",
	0xd5:              "the BMC does not allow this command in its present state",
	0xd6:              "the function is switched off in the BMC",
	0xff:              "the BMC gives no reason",
}

// words says a completion code in words.
func words(command, code byte) string {
	text, ok := generic[code]
	switch {
	case command == setUserPassword && code == codeMismatch:
		text = "the password is another one"
	case command == setUserPassword && code == codeWrongSize:
		text = "the password was stored with another length"
	case ok:
	case code >= 0x80 && code <= 0xbe:
		text = "a reason of this command alone"
	default:
		text = "a reason of the vendor's own"
	}
	return fmt.Sprintf("%s (completion code %#02x)", text, code)
}

// codeOf is the completion code that an error stands for; 0 for none.
func codeOf(err error) byte {
	var refusal interface{ CompletionCode() uint8 }
	if errors.As(err, &refusal) {
		return refusal.CompletionCode()
	}
	return 0
}

// explained names the command and says the completion code in words.
func explained(command byte, err error) error {
	if code := codeOf(err); code != 0 {
		return &refusedError{command, code}
	}
	return fmt.Errorf("%s: %w", commandNames[command], err)
}

// refusedError is a refusal of a command, in words.
type refusedError struct{ command, code byte }

func (e *refusedError) Error() string {
	return fmt.Sprintf("%s: %s", commandNames[e.command], words(e.command, e.code))
}

// CompletionCode is the answer's first byte.
func (e *refusedError) CompletionCode() uint8 { return e.code }
