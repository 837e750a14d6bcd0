package redfish

import (
	"net/http"
	"slices"
	"sync"
)

// led is the state of an IndicatorLED.
type led string

const (
	ledOff      led = "Off"
	ledLit      led = "Lit"
	ledBlinking led = "Blinking"
)

// indicators are the lights that people find hardware by, kept by the path of
// the resource that has one.
type indicators struct {
	mu  sync.Mutex
	led map[string]led
}

func newIndicators() *indicators { return &indicators{led: map[string]led{}} }

// at is the light of the resource at a path, in both of its forms: IndicatorLED, which DMTF has retired and clients
// still read, and LocationIndicatorActive in its place.
func (i *indicators) at(path string) (shown led, active bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now, set := i.led[path]
	if !set {
		now = ledOff
	}
	return now, now != ledOff
}

// indicatorPatch holds the writable properties of a light: either of its two forms.
type indicatorPatch struct {
	IndicatorLED            *led
	LocationIndicatorActive *bool
}

func (p indicatorPatch) empty() bool {
	return p.IndicatorLED == nil && p.LocationIndicatorActive == nil
}

// light is the light's state after the patch.
func (p indicatorPatch) light() (led, error) {
	switch {
	case p.IndicatorLED != nil && p.LocationIndicatorActive != nil:
		return "", problem(valueConflict, "IndicatorLED", "LocationIndicatorActive").about("#/IndicatorLED")
	case p.IndicatorLED != nil && !slices.Contains([]led{ledOff, ledLit, ledBlinking}, *p.IndicatorLED):
		return "", problem(valueNotInList, string(*p.IndicatorLED), "IndicatorLED").about("#/IndicatorLED")
	case p.IndicatorLED != nil:
		return *p.IndicatorLED, nil
	case *p.LocationIndicatorActive:
		return ledBlinking, nil
	}
	return ledOff, nil
}

// set changes the light of the resource at a path.
func (i *indicators) set(path string, to led) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.led[path] = to
}

// patchIndicator answers PATCH of a resource of which nothing but its light can be written.
func (s *Server) patchIndicator(pattern string) handler {
	return change(func(r *http.Request, p indicatorPatch) error {
		if _, err := s.document(pattern, r.URL.Path); err != nil {
			return err
		}
		if p.empty() {
			return problem(propertyMissing, "IndicatorLED").about("#/IndicatorLED")
		}
		light, err := p.light()
		if err != nil {
			return err
		}
		s.indicators.set(r.URL.Path, light)
		s.log.Info("indicator set", "path", r.URL.Path)
		return nil
	})
}
