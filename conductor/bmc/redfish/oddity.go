package redfish

import (
	"fmt"
	"log/slog"
	"sync"
)

// Oddity is a departure of a BMC's document from the standard. The driver works around it.
type Oddity struct {
	Path  string `json:"path"`            // of the document, as /redfish/v1/Systems/1
	Field string `json:"field,omitempty"` // as MemorySummary.TotalSystemMemoryGiB, or Members[2]; "" for the document as a whole
	Kind  string `json:"found"`           // there: text, number, true or false, list, object, null, or words for a whole document
	Done  string `json:"done"`            // by Ferrite: "read as a number", "left out"
}

// String is the oddity on one line; it holds no value of the BMC.
func (o Oddity) String() string {
	at := o.Path
	if o.Field != "" {
		at += " " + o.Field
	}
	return fmt.Sprintf("%s is %s, %s", at, o.Kind, o.Done)
}

// maxOddities bounds the oddities of one document, and those remembered of one BMC.
const maxOddities = 200

// oddities are the departures of one BMC. Each is reported once.
type oddities struct {
	log    *slog.Logger
	report func(Oddity) // may be nil

	mu    sync.Mutex
	known map[Oddity]bool
}

// note reports the oddities that were found in a document.
func (o *oddities) note(found ...Oddity) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range found {
		one.Path, one.Field = label(one.Path), label(one.Field)
		if o.known[one] || len(o.known) >= maxOddities {
			continue
		}
		if o.known == nil {
			o.known = map[Oddity]bool{}
		}
		o.known[one] = true
		o.log.Info("the BMC departs from the standard", "odd", one.String())
		if o.report != nil {
			o.report(one)
		}
	}
}

// noteOf is the note about oddities in the record of an exchange.
func noteOf(all []Oddity) string {
	var notes []string
	for _, one := range all {
		notes = append(notes, one.String())
	}
	return quote(notes)
}
