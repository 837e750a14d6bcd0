package firmware

import (
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// DocumentEvent is an event about a document.
type DocumentEvent struct {
	Of    hostapi.Document
	Event hostapi.Event // type, reason and message
}

// Events derives the events from a change of the documents about firmware, in Metal3's words: a setting or an update is
// wanted that is not possible.
func Events(was, is Documents) (all []DocumentEvent) {
	if d := is.Settings; d != nil {
		var before []hostapi.Condition
		if was.Settings != nil {
			before = was.Settings.Status.Conditions
		}
		all = append(all, refusals(d, before, d.Status.Conditions)...)
	}
	if d := is.Components; d != nil {
		var before []hostapi.Condition
		if was.Components != nil {
			before = was.Components.Status.Conditions
		}
		all = append(all, refusals(d, before, d.Status.Conditions)...)
	}
	return all
}

func refusals(of hostapi.Document, was, is []hostapi.Condition) []DocumentEvent {
	why := invalid(is)
	if why == "" || why == invalid(was) {
		return nil
	}
	return []DocumentEvent{
		{of, hostapi.Event{Type: hostapi.EventWarning, Reason: "ValidationFailed", Message: nodeapi.MaskText(why)}},
	}
}

// invalid is the reason why a document's wish is not possible; "" when it is.
func invalid(conditions []hostapi.Condition) string {
	for _, c := range conditions {
		if c.Type == hostapi.ConditionValid && c.Status == hostapi.False {
			return c.Message
		}
	}
	return ""
}
