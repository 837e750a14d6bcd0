package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Status is Kubernetes' answer without a document, mostly for errors.
type Status struct {
	Kind       string   `json:"kind"`
	APIVersion string   `json:"apiVersion"`
	Metadata   struct{} `json:"metadata"`
	Status     string   `json:"status"` // Success, Failure
	Message    string   `json:"message,omitempty"`
	Reason     reason   `json:"reason,omitempty"`
	Details    *Details `json:"details,omitempty"`
	Code       int      `json:"code,omitempty"`
}

// Details name the document or kind that a Status concerns.
type Details struct {
	Name   string  `json:"name,omitempty"`
	Group  string  `json:"group,omitempty"`
	Kind   string  `json:"kind,omitempty"` // as in paths
	UID    string  `json:"uid,omitempty"`
	Causes []Cause `json:"causes,omitempty"`
	Retry  int     `json:"retryAfterSeconds,omitempty"`
}

// Cause is one thing that is wrong with a document.
type Cause struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Field   string `json:"field,omitempty"`
}

// reason is the reason of a failure, in a word that clients know.
type reason string

const (
	unauthorized       reason = "Unauthorized"
	forbidden          reason = "Forbidden"
	notFound           reason = "NotFound"
	alreadyExists      reason = "AlreadyExists"
	conflict           reason = "Conflict"
	expired            reason = "Expired"
	invalid            reason = "Invalid"
	badRequestReason   reason = "BadRequest"
	methodNotAllowed   reason = "MethodNotAllowed"
	notAcceptable      reason = "NotAcceptable"
	unsupportedMedia   reason = "UnsupportedMediaType"
	entityTooLarge     reason = "RequestEntityTooLarge"
	tooManyRequests    reason = "TooManyRequests"
	serviceUnavailable reason = "ServiceUnavailable"
	internalError      reason = "InternalError"
)

// failure is an error that is a Status.
type failure struct{ Status }

func (f *failure) Error() string { return f.Message }

func failed(code int, why reason, format string, args ...any) *failure {
	return &failure{Status{
		Kind: "Status", APIVersion: "v1", Status: "Failure", Code: code, Reason: why, Message: fmt.Sprintf(format, args...),
		Details: &Details{},
	}}
}

// of names the document or kind that a failure concerns.
func (f *failure) of(c *call) *failure {
	f.Details.Name, f.Details.Group, f.Details.Kind = c.name, c.kind.Group, c.kind.Plural
	return f
}

func badRequest(format string, args ...any) error {
	return failed(http.StatusBadRequest, badRequestReason, format, args...)
}

func noPath() error {
	return failed(http.StatusNotFound, notFound, "the server could not find the requested resource")
}

func noMethod() error {
	return failed(http.StatusMethodNotAllowed, methodNotAllowed,
		"the server does not allow this method on the requested resource")
}

// done is the Status of a success.
func done(c *call, uid string) Status {
	return Status{
		Kind: "Status", APIVersion: "v1", Status: "Success",
		Details: &Details{Name: c.name, Group: c.kind.Group, Kind: c.kind.Plural, UID: uid},
	}
}

// failureOf translates an error into the answer for the client; nil for those that are ours.
func failureOf(c *call, err error) *failure {
	var (
		f       *failure
		refusal *objects.Refusal
		fault   *nodeapi.Fault
		long    *http.MaxBytesError
	)
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &refusal):
		return refused(c, refusal)
	case errors.Is(err, objects.ErrExpired):
		return failed(http.StatusGone, expired, "%v", err)
	case errors.As(err, &long):
		return failed(http.StatusRequestEntityTooLarge, entityTooLarge,
			"the body is too long: expected %d bytes at the most", long.Limit)
	case errors.As(err, &fault):
		return failed(fault.Status, faultReason(fault.Status), "%s", fault.Text)
	}
	return nil
}

// faultReason is the reason for a status of the authenticator.
func faultReason(status int) reason {
	switch status {
	case http.StatusUnauthorized:
		return unauthorized
	case http.StatusTooManyRequests:
		return tooManyRequests
	}
	return badRequestReason
}

// refused puts a refusal into Kubernetes' words.
func refused(c *call, r *objects.Refusal) *failure {
	what := fmt.Sprintf("%s %q", c.resource(), r.Key.Name)
	var f *failure
	switch {
	case errors.Is(r, objects.ErrNotFound):
		f = failed(http.StatusNotFound, notFound, "%s not found", what)
	case errors.Is(r, objects.ErrExists):
		f = failed(http.StatusConflict, alreadyExists, "%s already exists", what)
	case errors.Is(r, objects.ErrConflict):
		f = failed(http.StatusConflict, conflict, "Operation cannot be fulfilled on %s: %s", what, words(r))
	case errors.Is(r, objects.ErrInvalid):
		return invalidDocument(c, r.Key.Name, r.Causes)
	default:
		f = failed(http.StatusForbidden, forbidden, "%s is forbidden: %s", what, r.Message)
	}
	f.of(c).Details.Name = r.Key.Name
	return f
}

// words are a refusal's text without the name of the document. Clients know the text about a modified document.
func words(r *objects.Refusal) string {
	return "the object " + strings.TrimPrefix(r.Message, r.Key.String()+" ")
}

// invalidDocument reports all faults of a document at once.
func invalidDocument(c *call, name string, problems []hostapi.Problem) *failure {
	f := failed(http.StatusUnprocessableEntity, invalid, "").of(c)
	f.Details.Kind, f.Details.Name = c.kind.Kind, name // of this error alone it is the kind
	var texts []string
	for _, p := range problems {
		why, text := "FieldValueInvalid", fmt.Sprintf("Invalid value: %q: %s", p.Value, p.Reason)
		switch {
		case p.Missing:
			why, text = "FieldValueRequired", "Required value: "+p.Reason
		case p.Forbidden:
			why, text = "FieldValueForbidden", "Forbidden: "+p.Reason
		case p.Choices != nil:
			why, text = "FieldValueNotSupported", fmt.Sprintf("Unsupported value: %q: %s", p.Value, p.Reason)
		}
		f.Details.Causes = append(f.Details.Causes, Cause{Reason: why, Message: text, Field: p.Path})
		texts = append(texts, p.Path+": "+text)
	}
	list := strings.Join(texts, ", ")
	if len(problems) > 1 {
		list = "[" + list + "]"
	}
	f.Message = fmt.Sprintf("%s %q is invalid: %s", kindName(c.kind), name, list)
	return f
}

// kindName is the kind's name in errors about invalid documents: "BareMetalHost.metal3.io".
func kindName(k hostapi.Kind) string {
	if k.Group == "" {
		return k.Kind
	}
	return k.Kind + "." + k.Group
}

// fail answers an error, and logs it when it is ours.
func (s *Server) fail(c *call, err error) {
	f := failureOf(c, err)
	switch {
	case f != nil:
	case nodeapi.WasCutOff(c.Request, err):
		s.log.Debug("request cut off", "path", c.URL.Path, "err", err)
		fault := nodeapi.CutOff(c.w)
		f = failed(fault.Status, serviceUnavailable, "%s", fault.Text)
	default:
		s.log.Error("request failed", "method", c.Method, "path", c.URL.Path, "request",
			c.w.Header().Get(nodeapi.HeaderRequestID), "err", err)
		f = failed(http.StatusInternalServerError, internalError,
			"Internal error occurred: the conductor's log says more of %s", c.w.Header().Get(nodeapi.HeaderRequestID))
		if full := nodeapi.OutOfSpace(err); full != nil {
			f = failed(full.Status, internalError, "%s", full.Text)
		} else if gone := nodeapi.Unavailable(err); gone != nil {
			f = failed(gone.Status, serviceUnavailable, "%s", gone.Text)
		}
	}
	text, err := json.Marshal(f.Status)
	if err != nil {
		s.log.Error("an error cannot be reported", "err", err)
		return
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(f.Code)
	if _, err := c.w.Write(append(text, '\n')); err != nil {
		s.log.Debug("client gone before its answer", "path", c.URL.Path, "err", err)
	}
}
