package nodeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Fault is an error as the API answers it. Ironic has two inner forms, and
// both travel as a JSON document inside the string error_message.
type Fault struct {
	Status int    // the HTTP status
	Text   string // for people
	// Route marks the form for requests that found no controller (404, 405,
	// 406): {code, title, description}. The usual form is {faultcode,
	// faultstring, debuginfo}.
	Route bool
}

// NewFault makes a Fault of the usual form.
func NewFault(status int, format string, args ...any) *Fault {
	return &Fault{Status: status, Text: fmt.Sprintf(format, args...)}
}

// Routing makes a Fault of the form for requests that found no controller.
func Routing(status int, format string, args ...any) *Fault {
	return &Fault{Status: status, Text: fmt.Sprintf(format, args...), Route: true}
}

func (f *Fault) Error() string {
	if f.Text == "" {
		return fmt.Sprintf("%d %s", f.Status, http.StatusText(f.Status))
	}
	return f.Text
}

// controllerFault and routeFault are the two inner forms.
type (
	controllerFault struct {
		Code   string  `json:"faultcode"` // Client or Server
		String string  `json:"faultstring"`
		Debug  *string `json:"debuginfo"`
	}
	routeFault struct {
		Code        int    `json:"code"`
		Title       string `json:"title"`
		Description string `json:"description"`
	}
)

// Body is the reply's body. The text often quotes a URL; credentials in URLs are masked.
func (f *Fault) Body() []byte {
	var inner any
	text := MaskText(f.Text)
	switch {
	case f.Route:
		inner = routeFault{f.Status, http.StatusText(f.Status), text}
	case f.Status >= http.StatusInternalServerError:
		inner = controllerFault{Code: "Server", String: text}
	default:
		inner = controllerFault{Code: "Client", String: text}
	}
	message, err := json.Marshal(inner)
	if err != nil { // strings and numbers always encode
		message = []byte(`{}`)
	}
	body, err := json.Marshal(map[string]string{"error_message": string(message)})
	if err != nil {
		body = []byte(`{"error_message": ""}`)
	}
	return body
}

// Write answers a request with the fault.
func (f *Fault) Write(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	if _, err := w.Write(f.Body()); err != nil {
		return fmt.Errorf("answer with a %d: %w", f.Status, err)
	}
	return nil
}

// ParseFault reads the error out of a reply, whichever form it has:
// error_message as a string of JSON, as an object, or as plain text, or no
// JSON at all (a proxy's page).
func ParseFault(status int, body []byte) *Fault {
	f := &Fault{Status: status, Text: strings.TrimSpace(string(body))}
	var outer struct {
		Message json.RawMessage `json:"error_message"`
	}
	if json.Unmarshal(body, &outer) != nil || len(outer.Message) == 0 {
		return f
	}
	inner := []byte(outer.Message)
	var text string
	if json.Unmarshal(inner, &text) == nil {
		f.Text, inner = text, []byte(text)
	}
	var either struct {
		String      string `json:"faultstring"`
		Description string `json:"description"`
		Title       string `json:"title"`
	}
	if json.Unmarshal(inner, &either) != nil {
		return f
	}
	for _, t := range []string{either.String, either.Description, either.Title} {
		if t != "" {
			f.Text = t
			break
		}
	}
	return f
}
