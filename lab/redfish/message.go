package redfish

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// registryShort is the version of DMTF's Base registry (DSP8011), as a MessageId has it: major and minor. Its message
// ids are used. Clients match on the ids; the wording is ours.
const registryShort = "1.16"

// messageKind is one row of the registry: the id, the HTTP status it goes
// with here, and the text with %1, %2 for its arguments.
type messageKind struct {
	id         string
	status     int
	severity   string
	text       string
	resolution string
}

// Severities (Resource, Health).
const (
	critical = "Critical"
	warning  = "Warning"
)

// The messages this controller gives.
var (
	resourceMissing = messageKind{"ResourceMissingAtURI", http.StatusNotFound, critical, "There is nothing at %1.",
		"Follow the links from the service root."}
	operationNotAllowed = messageKind{"OperationNotAllowed", http.StatusMethodNotAllowed, critical,
		"The resource does not take this method.", "Use one of the methods in the Allow header."}
	noValidSession = messageKind{"NoValidSession", http.StatusUnauthorized, critical,
		"The request has no session that is still valid.", "Open a session, or use basic authentication."}
	unauthorized = messageKind{"ResourceAtUriUnauthorized", http.StatusUnauthorized, critical,
		"Access to %1 was refused: %2", "Check the user name and the password."}
	sessionLimit = messageKind{"SessionLimitExceeded", http.StatusServiceUnavailable, critical,
		"All sessions this controller has are taken.", "Close sessions, or wait until they expire."}
	subscriptionLimit = messageKind{"EventSubscriptionLimitExceeded", http.StatusServiceUnavailable, critical,
		"The controller keeps no more subscriptions.", "Delete one first."}
	malformedJSON = messageKind{"MalformedJSON", http.StatusBadRequest, critical,
		"The body of the request is not JSON of the expected shape.", "Correct the body and send it again."}
	propertyMissing = messageKind{"PropertyMissing", http.StatusBadRequest, warning,
		"The property %1 is required and was not sent.", "Send the property."}
	propertyUnknown = messageKind{"PropertyUnknown", http.StatusBadRequest, warning,
		"The property %1 is not one of this resource's that can be written.", "Leave the property out."}
	valueNotInList = messageKind{"PropertyValueNotInList", http.StatusBadRequest, warning,
		"The value %1 is not one the property %2 can take.", "Choose one of the allowable values."}
	notWritable = messageKind{"PropertyNotWritable", http.StatusBadRequest, warning,
		"The property %1 is read only.", "Leave the property out."}
	valueType = messageKind{"PropertyValueTypeError", http.StatusBadRequest, warning,
		"The value %1 is not of the type the property %2 has.", "Send a value of the property's type."}
	valueOutOfRange = messageKind{"PropertyValueOutOfRange", http.StatusBadRequest, warning,
		"The value %1 is out of the range the property %2 has.", "Send a value within the range."}
	valueError = messageKind{"PropertyValueError", http.StatusBadRequest, warning,
		"The value of the property %1 cannot be taken.", "Correct the value."}
	operationFailed = messageKind{"OperationFailed", http.StatusInternalServerError, critical, "%1 failed: %2",
		"Remove what the text says and ask again."}
	valueConflict = messageKind{
		"PropertyValueConflict", http.StatusBadRequest, warning,
		"The property %1 cannot be written, because its value conflicts with the property %2.",
		"Send both properties with values that go together.",
	}
	parameterMissing = messageKind{"ActionParameterMissing", http.StatusBadRequest, critical,
		"The action %1 needs the parameter %2.", "Send the parameter."}
	parameterNotInList = messageKind{"ActionParameterValueNotInList", http.StatusBadRequest, warning,
		"The value %1 is not one the parameter %2 of the action %3 can take.", "Choose one of the allowable values."}
	powerRequired = messageKind{"ChassisPowerStateOnRequired", http.StatusConflict, warning,
		"The system is powered off, and the request needs it on.", "Power the system on first."}
	preconditionFailed = messageKind{"PreconditionFailed", http.StatusPreconditionFailed, critical,
		"The ETag sent is not that of the resource now.", "Read the resource again and repeat the change."}
	preconditionRequired = messageKind{"PreconditionRequired", http.StatusPreconditionRequired, critical,
		"A change needs the ETag of the resource.", "Read the resource and send its ETag in If-Match."}
	parameterConflict = messageKind{"ActionParameterValueConflict", http.StatusConflict, warning,
		"The value %1 of the parameter %2 conflicts with the state of the system.", "Ask again later."}
	notAcceptable = messageKind{"HeaderInvalid", http.StatusNotAcceptable, warning,
		"The header Accept-Encoding cannot be met.", "Allow gzip, or leave the header out."}
	unsupportedMedia = messageKind{"HeaderMissing", http.StatusUnsupportedMediaType, warning,
		"The request has no body of type application/json.", "Send an empty object."}
	resourceInUse = messageKind{"ResourceInUse", http.StatusConflict, warning, "The resource is in use.",
		"Free it first, or wait until it is free."}
	couldNotConnect = messageKind{"CouldNotEstablishConnection", http.StatusBadRequest, critical,
		"The controller could not read %1.", "Check that the URI is right and can be reached from the controller."}
	temporarilyAway = messageKind{"ServiceTemporarilyUnavailable", http.StatusServiceUnavailable, critical,
		"The controller is busy; try again in %1 seconds.", "Wait as long as the Retry-After header says."}
	// Messages of vendors' own registries.
	lockedInPOST = messageKind{"iLO.2.25.UnableToModifyDuringSystemPOST", http.StatusBadRequest, warning,
		"The value cannot be changed during POST.", "Ask again when POST has ended."}
	wrongSystemState = messageKind{"iLO.2.25.InvalidOperationForSystemState", http.StatusBadRequest, warning,
		"The operation is not possible in the present state of the system.", "Ask again later."}
	dataUnavailable = messageKind{"IDRAC.2.8.SYS518", http.StatusInternalServerError, warning,
		"The sources of the data are not available now.", "Ask again later."}
	alreadyThere = messageKind{"IDRAC.2.8.PSU501", http.StatusConflict, warning, "The host is powered %1 already.",
		"Nothing is to be done."}
	internalError = messageKind{"InternalError", http.StatusInternalServerError, critical,
		"The controller failed to do what was asked.", "Read the lab's log."}
	successKind = messageKind{"Success", http.StatusOK, "OK", "The request was carried out.", "None."}
)

// messageKinds lists the registry, for a client that downloads it.
func messageKinds() []messageKind {
	return []messageKind{
		resourceMissing, operationNotAllowed, noValidSession, unauthorized, sessionLimit, subscriptionLimit, malformedJSON,
		propertyMissing, propertyUnknown, valueNotInList, notWritable, valueType, valueOutOfRange, valueError, valueConflict,
		parameterMissing, parameterNotInList,
		powerRequired, preconditionFailed, preconditionRequired, parameterConflict, notAcceptable, unsupportedMedia,
		resourceInUse, couldNotConnect, temporarilyAway, operationFailed,
		internalError, successKind,
	}
}

// fullID is the message's id with its registry, as MessageId wants it.
func (k messageKind) fullID() string {
	if strings.Contains(k.id, ".") {
		return k.id // of a vendor's own registry
	}
	return "Base." + registryShort + "." + k.id
}

// arguments is how many arguments the text takes.
func (k messageKind) arguments() int { return strings.Count(k.text, "%") }

// problemError is an error as a client gets it.
type problemError struct {
	kind    messageKind
	args    []string
	related []string // JSON pointers to the properties at fault
	cause   error    // for our log; nil when the client is at fault
}

func (p *problemError) Error() string {
	text := p.kind.text
	for i, arg := range p.args {
		text = strings.ReplaceAll(text, "%"+strconv.Itoa(i+1), arg)
	}
	return text
}

func (p *problemError) Unwrap() error { return p.cause }

// problem makes an error of a kind with the arguments of its text.
func problem(kind messageKind, args ...string) *problemError {
	return &problemError{kind: kind, args: args}
}

// about names the property at fault, as a JSON pointer.
func (p *problemError) about(pointer string) *problemError {
	p.related = append(p.related, pointer)
	return p
}

// because keeps the cause for the log.
func (p *problemError) because(err error) *problemError {
	p.cause = err
	return p
}

// asProblem is err as a client gets it: an internal error unless it was made
// for clients.
func asProblem(err error) *problemError {
	var p *problemError
	if errors.As(err, &p) {
		return p
	}
	return problem(internalError).because(err)
}

// Problem is the status and the body of the answer that an error is.
func Problem(err error) (status int, body []byte) {
	p := asProblem(err)
	body, err = encode(p.body())
	if err != nil { // a struct of strings always encodes
		return http.StatusInternalServerError, nil
	}
	return p.kind.status, body
}

// errorBody is the body of an error response (DSP0266, 8.6).
type errorBody struct {
	Error errorPayload `json:"error"`
}

type errorPayload struct {
	Code     string        `json:"code"`
	Message  string        `json:"message"`
	Extended []messageBody `json:"@Message.ExtendedInfo"`
}

// messageBody is one Message object.
type messageBody struct {
	Type       string   `json:"@odata.type"`
	ID         string   `json:"MessageId"`
	Message    string   `json:"Message"`
	Args       []string `json:"MessageArgs,omitempty"`
	Related    []string `json:"RelatedProperties,omitempty"`
	Severity   string   `json:"Severity"`
	Resolution string   `json:"Resolution"`
}

func (p *problemError) body() errorBody {
	text := p.Error()
	if p.cause != nil {
		text = fmt.Sprintf("%s (%v)", text, p.cause)
	}
	return errorBody{errorPayload{
		Code: p.kind.fullID(), Message: text,
		Extended: []messageBody{{
			Type: "#Message.v1_1_2.Message", ID: p.kind.fullID(), Message: text, Args: p.args,
			Related: p.related, Severity: p.kind.severity, Resolution: p.kind.resolution,
		}},
	}}
}
