package host

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// historyOf is the part of the operation history that a state belongs to, nil for
// none.
func (d *decision) historyOf(s hostapi.State) *hostapi.Span {
	h := &d.h.Status.OperationHistory
	switch s.Canonical() {
	case hostapi.StateRegistering:
		return &h.Register
	case hostapi.StateInspecting:
		return &h.Inspect
	case hostapi.StateProvisioning:
		return &h.Provision
	case hostapi.StateDeprovisioning:
		return &h.Deprovision
	default:
		return nil
	}
}

// recordStateBegin begins a phase, unless it is under way.
func (d *decision) recordStateBegin(s hostapi.State) {
	if p := d.historyOf(s); p != nil && (p.Start.IsZero() || !p.End.IsZero()) {
		*p = hostapi.Span{Start: hostapi.At(d.facts.Now)}
	}
}

// recordStateEnd ends a state that is under way.
func (d *decision) recordStateEnd(s hostapi.State) {
	if p := d.historyOf(s); p != nil && !p.Start.IsZero() && p.End.IsZero() {
		p.End = hostapi.At(d.facts.Now)
	}
}
