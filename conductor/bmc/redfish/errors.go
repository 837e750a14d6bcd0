package redfish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// wireError is a request that got no answer one can read.
type wireError struct {
	method, path string
	took         time.Duration
	cause        error
}

// connectError is an address where no connection came about in time.
type connectError struct{ within time.Duration }

func (e *connectError) Error() string {
	return fmt.Sprintf("no connection within %s", e.within)
}

func (e *connectError) Unwrap() error { return context.DeadlineExceeded }

func (e *wireError) Error() string {
	call := e.method + " " + quote([]string{e.path}) // the BMC may have named it
	if why := explain(e.cause); why != "" {
		return call + ": " + why
	}
	switch {
	case errors.Is(e.cause, context.Canceled):
		return call + " was given up by the caller"
	case errors.Is(e.cause, context.DeadlineExceeded):
		return fmt.Sprintf("the BMC did not answer %s within %s: check redfish_address, restart a BMC that hangs, or "+
			"raise --bmc-request-timeout or driver_info bmc_request_timeout", call, e.took.Round(10*time.Millisecond))
	case errors.Is(e.cause, io.EOF), errors.Is(e.cause, io.ErrUnexpectedEOF):
		return "the BMC closed the connection in the middle of " + call
	}
	if broke := e.cause.Error(); strings.Contains(broke, "malformed HTTP") ||
		strings.Contains(broke, "readLoopPeekFailLocked") || // Go's word where the server sends before it is asked
		strings.Contains(broke, "transport connection broken") && !strings.Contains(broke, "headers exceeded") {
		// net/http quotes the answer
		return call + ": the answer is not HTTP: set redfish_address to the port of the BMC's web service"
	}
	return fmt.Sprintf("%s: %v", call, e.cause)
}

func (e *wireError) Unwrap() error { return e.cause }

// AnswerLost reports a request that changes something, and may have reached the BMC.
func (e *wireError) AnswerLost() bool {
	_, unreached := errors.AsType[*connectError](e.cause)
	return e.method != http.MethodGet && !unreached && !errors.Is(e.cause, syscall.ECONNREFUSED)
}

func isWire(err error) bool {
	var e *wireError
	return errors.As(err, &e)
}

// documentError is an answer of 200 to a question for a document that holds none: no JSON, half of it, nothing, or more
// than is read. The BMC answers, and its other documents may be well.
type documentError struct{ path, what string }

func (e *documentError) Error() string {
	return fmt.Sprintf("GET %s: %s", quote([]string{e.path}), e.what)
}

func isDocument(err error) bool {
	_, ok := errors.AsType[*documentError](err)
	return ok
}

// status is the HTTP status of a refusal, 0 for any other error.
func status(err error) int {
	var e *schemas.Error
	if errors.As(err, &e) {
		return e.HTTPReturnedStatusCode
	}
	return 0
}

// failure reports an error of a BMC in trouble: no answer, a broken document, or an error of its own (5xx).
func failure(err error) bool {
	return isWire(err) || isDocument(err) || status(err) >= http.StatusInternalServerError
}

// badCredentials reports an answer to a login that refuses the credentials: some BMCs answer 400 or 403 where DSP0266
// has 401.
func badCredentials(err error) bool {
	limit := strings.Contains(messageID(err), "SessionLimitExceeded")
	switch status(err) {
	case http.StatusUnauthorized:
		return true
	case http.StatusForbidden:
		return !limit
	case http.StatusBadRequest:
		return strings.Contains(messageID(err), "UnauthorizedLoginAttempt")
	}
	return false
}

// messageID is the registry's name of the BMC's message.
func messageID(err error) string {
	var e *schemas.Error
	if !errors.As(err, &e) {
		return ""
	}
	id := e.Code
	for _, i := range e.ExtendedInfos {
		id += " " + i.MessageID
	}
	return id
}

// answerError is a refusal of the BMC in words.
type answerError struct {
	status int
	words  string
	cause  error
}

func (e *answerError) Error() string {
	return fmt.Sprintf("the BMC answered %d %s: %s", e.status, http.StatusText(e.status), e.words)
}

func (e *answerError) Unwrap() error { return e.cause }

// describe turns gofish's errors, which hold raw JSON and URLs, into words. It keeps the text before them, and leaves
// out texts that are not for users.
func describe(err error) error { return shown(reworded(err)) }

func reworded(err error) error {
	var said *answerError
	if errors.As(err, &said) {
		return err
	}
	var e *schemas.Error
	if errors.As(err, &e) {
		return reword(err, e, &answerError{e.HTTPReturnedStatusCode, words(e), e})
	}
	var u *url.Error
	if errors.As(err, &u) { // its text has a URL that the BMC may have named
		return reword(err, u, u.Err)
	}
	var form *json.UnmarshalTypeError
	if errors.As(err, &form) { // its text has a whole structure of gofish
		kind, _, _ := strings.Cut(form.Value, " ")
		field := strings.ReplaceAll(form.Field, "temp.", "") // gofish's, within its decoders
		return reword(err, form, fmt.Errorf("the answer is JSON of another form: %q is of the kind %s", field, kind))
	}
	return err
}

// reword puts better in the place of the error at the end of err's chain.
func reword(err, end, better error) error {
	before, ok := strings.CutSuffix(err.Error(), end.Error())
	if !ok || before == "" {
		return better
	}
	return fmt.Errorf("%s%w", before, better)
}

// maxWords bounds the part of a BMC's messages that is repeated, in bytes.
const maxWords = 300

// quote repeats texts of a BMC on one line.
func quote(texts []string) string {
	text := strings.Join(strings.Fields(nodeapi.Printable(strings.Join(texts, "; "))), " ")
	if len(text) > maxWords {
		text = strings.ToValidUTF8(text[:maxWords], "") + "..."
	}
	return text
}

func words(e *schemas.Error) string {
	var all []string
	for _, i := range e.ExtendedInfos {
		if i.Message != "" {
			all = append(all, i.Message)
		}
	}
	if len(all) == 0 {
		all = []string{e.Message}
	}
	return quote(all)
}
