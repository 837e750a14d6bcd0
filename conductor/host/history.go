package host

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// span is the part of the operation history that a state belongs to, nil for
// none.
func (d *decision) span(s hostapi.State) *hostapi.Span {
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

// beginSpan begins a phase, unless it is under way.
func (d *decision) beginSpan(s hostapi.State) {
	if p := d.span(s); p != nil && (p.Start.IsZero() || !p.End.IsZero()) {
		*p = hostapi.Span{Start: hostapi.At(d.facts.Now)}
	}
}

// endSpan ends one that is under way.
func (d *decision) endSpan(s hostapi.State) {
	if p := d.span(s); p != nil && !p.Start.IsZero() && p.End.IsZero() {
		p.End = hostapi.At(d.facts.Now)
	}
}
