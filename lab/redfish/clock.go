package redfish

import (
	"net/http"
	"regexp"
	"time"
)

// managerPatch holds the writable properties of a manager.
type managerPatch struct {
	DateTime            *string
	DateTimeLocalOffset *string
}

// zones are the values of DateTimeLocalOffset (DSP2046).
var zones = regexp.MustCompile(`^[-+][01][0-9]:[0-5][0-9]$`)

// patchManager sets the controller's clock, or keeps it under the fault ClockKept.
func (s *Server) patchManager(_ *http.Request, p managerPatch) error {
	if p.DateTime == nil && p.DateTimeLocalOffset == nil {
		return problem(propertyMissing, "DateTime").about("#/DateTime")
	}
	var to time.Time
	if p.DateTime != nil {
		var err error
		if to, err = time.Parse(time.RFC3339, *p.DateTime); err != nil {
			return problem(valueNotInList, *p.DateTime, "DateTime").about("#/DateTime")
		}
	}
	if p.DateTimeLocalOffset != nil && !zones.MatchString(*p.DateTimeLocalOffset) {
		return problem(valueNotInList, *p.DateTimeLocalOffset, "DateTimeLocalOffset").about("#/DateTimeLocalOffset")
	}
	if _, kept := s.faults.strikes(ClockKept); kept {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.DateTime != nil {
		s.clockOff = to.Sub(s.config.Now())
	}
	if p.DateTimeLocalOffset != nil {
		s.zone = *p.DateTimeLocalOffset
	}
	return nil
}

// clock is the controller's time in its zone, to the second, and the zone.
func (s *Server) clock() (now, zone string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, err := time.Parse("-07:00", s.zone)
	must(err) // patchManager has checked it
	return s.config.Now().Add(s.clockOff).In(at.Location()).Format("2006-01-02T15:04:05-07:00"), s.zone
}
