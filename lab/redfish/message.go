package redfish

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// critical is a severity (Resource, Health).
const critical = "Critical"

// messageID is the id of a message: in DMTF's Base registry (DSP8011), or with a vendor's own registry before it.
type messageID string

// The messages this controller gives. Clients match on the ids; the wording is ours.
const (
	resourceMissing      messageID = "ResourceMissingAtURI"
	operationNotAllowed  messageID = "OperationNotAllowed"
	noValidSession       messageID = "NoValidSession"
	unauthorized         messageID = "ResourceAtUriUnauthorized"
	sessionLimit         messageID = "SessionLimitExceeded"
	subscriptionLimit    messageID = "EventSubscriptionLimitExceeded"
	malformedJSON        messageID = "MalformedJSON"
	propertyMissing      messageID = "PropertyMissing"
	propertyUnknown      messageID = "PropertyUnknown"
	valueNotInList       messageID = "PropertyValueNotInList"
	notWritable          messageID = "PropertyNotWritable"
	valueType            messageID = "PropertyValueTypeError"
	valueOutOfRange      messageID = "PropertyValueOutOfRange"
	valueError           messageID = "PropertyValueError"
	operationFailed      messageID = "OperationFailed"
	valueConflict        messageID = "PropertyValueConflict"
	parameterMissing     messageID = "ActionParameterMissing"
	parameterNotInList   messageID = "ActionParameterValueNotInList"
	powerRequired        messageID = "ChassisPowerStateOnRequired"
	preconditionFailed   messageID = "PreconditionFailed"
	preconditionRequired messageID = "PreconditionRequired"
	parameterConflict    messageID = "ActionParameterValueConflict"
	notAcceptable        messageID = "HeaderInvalid"
	unsupportedMedia     messageID = "HeaderMissing"
	resourceInUse        messageID = "ResourceInUse"
	couldNotConnect      messageID = "CouldNotEstablishConnection"
	temporarilyAway      messageID = "ServiceTemporarilyUnavailable"
	internalError        messageID = "InternalError"
	successKind          messageID = "Success"

	// Messages of vendors' own registries.
	lockedInPOST     messageID = "iLO.2.25.UnableToModifyDuringSystemPOST"
	wrongSystemState messageID = "iLO.2.25.InvalidOperationForSystemState"
	dataUnavailable  messageID = "IDRAC.2.8.SYS518"
	alreadyThere     messageID = "IDRAC.2.8.PSU501"
	noForeignDrives  messageID = "IDRAC.2.8.STOR018"
)

// registryVersion is the version of the Base registry, as a MessageId has it: major and minor.
const registryVersion = "1.16"

// message is a row of messages.json: the HTTP status it goes with here, and the text with %1, %2 for its arguments.
type message struct {
	Status     int
	Severity   string
	Text       string
	Resolution string
}

var messages = load[map[messageID]message]("messages")

// full is the id with its registry, as MessageId wants it.
func (id messageID) full() string {
	if id.vendors() {
		return string(id)
	}
	return "Base." + registryVersion + "." + string(id)
}

func (id messageID) vendors() bool { return strings.Contains(string(id), ".") }

// arguments is how many arguments the text takes.
func (m message) arguments() int { return strings.Count(m.Text, "%") }

// problemError is an error as a client gets it.
type problemError struct {
	id      messageID
	args    []string
	related []string // JSON pointers to the properties at fault
	cause   error    // for our log; nil when the client is at fault
}

func (p *problemError) Error() string {
	text := p.message().Text
	for i, arg := range p.args {
		text = strings.ReplaceAll(text, "%"+strconv.Itoa(i+1), arg)
	}
	return text
}

func (p *problemError) Unwrap() error { return p.cause }

// problem makes an error of a message with the arguments of its text.
func problem(id messageID, args ...string) *problemError {
	return &problemError{id: id, args: args}
}

func (p *problemError) message() message { return messages()[p.id] }

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
	return p.message().Status, body
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
		Code: p.id.full(), Message: text,
		Extended: []messageBody{{
			Type: "#Message.v1_1_2.Message", ID: p.id.full(), Message: text, Args: p.args,
			Related: p.related, Severity: p.message().Severity, Resolution: p.message().Resolution,
		}},
	}}
}
