package ipmi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"
)

// wireError is a command that got no answer one can read.
type wireError struct {
	command string
	took    time.Duration
	dropped int // datagrams that came and were no answer
	cause   error
}

func (e *wireError) Error() string {
	switch {
	case errors.Is(e.cause, context.Canceled):
		return e.command + " was given up by the caller"
	case e.silence() && e.dropped > 0:
		return fmt.Sprintf("the BMC did not answer %s within %s: %d datagrams came that are no answer, or not signed with "+
			"the session's key",
			e.command, e.took.Round(10*time.Millisecond), e.dropped)
	case e.silence():
		return fmt.Sprintf("the BMC did not answer %s within %s", e.command, e.took.Round(10*time.Millisecond))
	}
	return fmt.Sprintf("%s: %v", e.command, e.cause)
}

func (e *wireError) Unwrap() error { return e.cause }

// silence reports whether the time ran out.
func (e *wireError) silence() bool {
	return errors.Is(e.cause, context.DeadlineExceeded)
}

// answerError is a refusal of the BMC in words.
type answerError struct {
	command types.Command
	code    types.CompletionCode
}

func (e *answerError) Error() string {
	return fmt.Sprintf("the BMC answered %s with %#02x: %s", e.command.Name, uint8(e.code),
		types.StrCC(e.command, uint8(e.code)))
}

// garbledError is an answer that is signed and makes no sense nevertheless.
type garbledError struct {
	command string
	cause   any
}

func (e *garbledError) Error() string {
	return fmt.Sprintf("the BMC's answer to %s cannot be read: %.200v", e.command, e.cause)
}

// code is the completion code of a refusal, 0 for any other error.
func code(err error) types.CompletionCode {
	var e *answerError
	if errors.As(err, &e) {
		return e.code
	}
	return 0
}

// status is the code by which an RMCP+ session is refused, 0 for any other
// error.
func status(err error) types.RmcpStatusCode {
	var e *types.RmcpStatusError
	if errors.As(err, &e) {
		return e.StatusCode()
	}
	return 0
}

func isWire(err error) bool {
	var e *wireError
	return errors.As(err, &e)
}

// failure reports an error of a BMC in trouble: no answer, a garbled answer, or an error of its own.
func failure(err error) bool {
	var garbled *garbledError
	return isWire(err) || errors.As(err, &garbled) || slices.Contains(troubled, code(err)) ||
		slices.Contains(exhausted, status(err))
}

// unsupported reports a refusal by a BMC that lacks a command or a parameter
// of it.
func unsupported(err error) bool { return slices.Contains(lacking, code(err)) }

// Completion codes (IPMI v2.0, table 5-2): troubled for a BMC in trouble, lacking for a BMC that lacks the requested
// thing.
var (
	troubled = []types.CompletionCode{
		types.CodeNodeBusy, types.CodeOutOfSpace, types.CodeProcessTimeout, types.CodeUnspecifiedError,
	}
	lacking = []types.CompletionCode{
		types.CodeInvalidCommand, types.CodeInvalidCommandForLUN, types.CodeRequestDataFieldInvalid,
		types.CodeParameterOutOfRange,
		types.CodeParameterNotSupported, types.CodeNotSupported, types.CodeRequestedDataNotPresent,
	}
)

// The codes with which it refuses a session (table 13-15): others hold all
// there are; or the cipher suite, the level or the user is not to its liking.
var (
	exhausted = []types.RmcpStatusCode{
		types.RmcpStatusCodeNoResToCreateSess, types.RmcpStatusCodeNoResToCreateSessAtRole,
	}
	badCipher = []types.RmcpStatusCode{
		types.RmcpStatusCodeInvalidAuthAlg, types.RmcpStatusCodeInvalidIntegrityAlg, types.RmcpStatusCodeInvalidConfidentAlg,
		types.RmcpStatusCodeNoMatchingAuthPayload, types.RmcpStatusCodeNoMatchingIntegrityPayload,
		types.RmcpStatusCodeNoCipherSuiteMatch,
	}
	badLevel = []types.RmcpStatusCode{
		types.RmcpStatusCodeInvalidRole, types.RmcpStatusCodeUnauthorizedRoleOfPriLevel,
	}
	badUser = []types.RmcpStatusCode{
		types.RmcpStatusCodeInvalidNameLength, types.RmcpStatusCodeUnauthorizedName,
		types.RmcpStatusCodeInvalidIntegrityCheckValue,
	}
)
