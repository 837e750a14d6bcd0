package redfish

import (
	"fmt"
	"regexp"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// clockTolerance is the difference of two clocks that counts as none, as in Ironic: a BMC shows whole seconds.
const clockTolerance = time.Second

// bmcTime reads the BMC's clock.
func (r *stepCall) bmcTime() (m manager, shown time.Time, err error) {
	if m, err = r.manager(); err != nil {
		return m, shown, err
	}
	if m.DateTime == "" {
		return m, shown, broken("the BMC does not show its clock (%s has no DateTime): update its firmware, or leave the "+
			"step out", m.path)
	}
	if shown, err = time.Parse(time.RFC3339, m.DateTime); err != nil {
		return m, shown, broken("the BMC's clock is %s: expected a time such as 2026-01-31T12:00:00+00:00; set it by hand",
			quote([]string{m.DateTime}))
	}
	return m, shown, nil
}

// offClock is how far the BMC's clock is from the right time, which was from at the request and to at the answer; 0
// within the tolerance.
func offClock(shown, from, to time.Time) time.Duration {
	switch {
	case shown.Before(from.Add(-clockTolerance)):
		return shown.Sub(from)
	case shown.After(to.Add(clockTolerance)):
		return shown.Sub(to)
	}
	return 0
}

// moveClock sets the BMC's clock to a time, and reads it again. A BMC that takes the time and keeps its own is an
// error: mostly NTP sets its clock.
func (r *stepCall) moveClock(m manager, to time.Time, offset string) error {
	begun := time.Now()
	body := map[string]any{"DateTime": to.Format("2006-01-02T15:04:05-07:00")} // many BMCs refuse fractions
	if offset != "" && offset != m.DateTimeLocalOffset {
		body["DateTimeLocalOffset"] = offset
	}
	if err := r.patch(m.path, body); err != nil {
		return fmt.Errorf("set the BMC's clock to %s: %w; if NTP sets it, correct the BMC's NTP servers instead",
			body["DateTime"], describe(err))
	}
	now, shown, err := r.bmcTime()
	if err != nil {
		return err
	}
	if off := offClock(shown, to.Truncate(time.Second), to.Add(time.Since(begun))); off != 0 {
		return broken("the BMC took the time %s and shows %s, which is off by %s: if NTP sets its clock, correct the BMC's "+
			"NTP servers instead", body["DateTime"], now.DateTime, off.Round(time.Second))
	}
	return nil
}

// localOffset is Manager.DateTimeLocalOffset (DSP2046).
var localOffset = regexp.MustCompile(`^[-+][01][0-9]:[0-5][0-9]$`)

// setClock does management.set_bmc_clock.
func setClock(r *stepCall) (node.StepReport, error) {
	var a struct {
		Target string `json:"target_datetime"`
		Offset string `json:"datetime_local_offset"`
	}
	if err := r.arguments(&a); err != nil {
		return node.StepReport{}, err
	}
	var target time.Time
	if a.Target != "" {
		var err error
		if target, err = time.Parse(time.RFC3339, a.Target); err != nil {
			return node.StepReport{}, broken("the step's arguments are wrong: target_datetime is %q: expected a "+
				"time with an offset from UTC, such as 2026-01-31T12:00:00+00:00", a.Target)
		}
	}
	if a.Offset != "" && !localOffset.MatchString(a.Offset) {
		return node.StepReport{}, broken("the step's arguments are wrong: datetime_local_offset is %q: expected an offset "+
			"from UTC, such as +02:00", a.Offset)
	}
	m, shown, err := r.bmcTime()
	if target.IsZero() {
		target = time.Now().UTC()
	}
	if err == nil {
		err = r.moveClock(m, target, a.Offset)
	}
	if err != nil {
		return node.StepReport{}, err
	}
	return done("the BMC's clock was %s and is set to %s", shown.UTC().Format(time.RFC3339),
		target.UTC().Format(time.RFC3339))
}

// verifyClock does management.verify_bmc_clock: it sets a clock that differs from this conductor's, to UTC as Ironic
// does.
func verifyClock(r *stepCall) (node.StepReport, error) {
	if err := r.arguments(&struct{}{}); err != nil {
		return node.StepReport{}, err
	}
	from := time.Now()
	m, shown, err := r.bmcTime()
	if err != nil {
		return node.StepReport{}, err
	}
	off := offClock(shown, from, time.Now())
	if off == 0 {
		return done("the BMC's clock is right")
	}
	if err := r.moveClock(m, time.Now().UTC(), "+00:00"); err != nil {
		return node.StepReport{}, err
	}
	return done("the BMC's clock was off by %s and is set", off.Round(time.Second))
}
