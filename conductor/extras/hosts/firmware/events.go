package firmware

import (
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// DocumentEvent is what people are told of a document.
type DocumentEvent struct {
	Of    hostapi.Document
	Event hostapi.Event // type, reason and message
}

// Events is what people are told of documents about firmware, as they were
// and as they have become, in Metal3's words: that something is wanted that cannot
// be had.
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

// invalid is why what a document wants cannot be had; "" when it can.
func invalid(conditions []hostapi.Condition) string {
	for _, c := range conditions {
		if c.Type == hostapi.ConditionValid && c.Status == hostapi.False {
			return c.Message
		}
	}
	return ""
}
