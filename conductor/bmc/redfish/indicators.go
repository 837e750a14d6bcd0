package redfish

import (
	"cmp"
	"context"
	"slices"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// light is the indicator of a system, a chassis or a drive. Older BMCs have IndicatorLED with three states.
// LocationIndicatorActive replaced it with ComputerSystem v1.14; it is on or off.
type light struct {
	component, name string

	Path   string               `json:"@odata.id"`
	ID     string               `json:"Id"`
	UUID   string               `json:"UUID"`
	LED    schemas.IndicatorLED `json:"IndicatorLED"`
	Active *bool                `json:"LocationIndicatorActive"`
}

// ledStates are Ironic's names for the states of an IndicatorLED.
var ledStates = map[schemas.IndicatorLED]string{
	schemas.LitIndicatorLED: node.IndicatorOn, schemas.OffIndicatorLED: node.IndicatorOff,
	schemas.BlinkingIndicatorLED: node.IndicatorBlinking, schemas.UnknownIndicatorLED: node.IndicatorUnknown,
}

func (l *light) lit() bool { return l.LED != "" || l.Active != nil }

func (l *light) states() []string {
	if l.LED != "" {
		return []string{node.IndicatorBlinking, node.IndicatorOff, node.IndicatorOn}
	}
	return []string{node.IndicatorOff, node.IndicatorOn}
}

func (l *light) state() string {
	switch {
	case l.LED != "":
		return cmp.Or(ledStates[l.LED], node.IndicatorUnknown)
	case *l.Active:
		return node.IndicatorOn
	}
	return node.IndicatorOff
}

// change is the PATCH that makes it show a state.
func (l *light) change(state string) any {
	if l.LED == "" {
		return map[string]bool{"LocationIndicatorActive": state == node.IndicatorOn}
	}
	for led, name := range ledStates {
		if name == state {
			return map[string]schemas.IndicatorLED{"IndicatorLED": led}
		}
	}
	return nil
}

// lights finds the indicators of one component, or of all for "". As in Ironic, a system and a chassis go by their
// UUID, and drives by their storage's Id and their own.
func (s *session) lights(component string) ([]light, error) {
	links, err := s.systemLinks()
	if err != nil {
		return nil, err
	}
	var all []light
	for _, part := range []struct {
		component string
		find      func(systemLinks) ([]light, error)
	}{{"chassis", s.chassisLights}, {"system", s.systemLight}, {"disk", s.driveLights}} {
		if component != "" && component != part.component {
			continue
		}
		found, err := part.find(links)
		if err != nil {
			if err := s.optional("indicators of the "+part.component, err); err != nil {
				return nil, err
			}
		}
		for _, l := range found {
			if l.lit() {
				l.component = part.component
				all = append(all, l)
			}
		}
	}
	return all, nil
}

func (s *session) light(path string) (l light, err error) {
	_, err = s.get(path, &l)
	l.name, l.Path = label(cmp.Or(l.UUID, l.ID)), path
	return l, err
}

func (s *session) systemLight(systemLinks) ([]light, error) {
	l, err := s.light(*s.system)
	return []light{l}, err
}

func (s *session) chassisLights(links systemLinks) (all []light, err error) {
	for _, c := range links.Links.Chassis {
		l, err := s.light(c.Path)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

func (s *session) driveLights(links systemLinks) (all []light, err error) {
	storages, err := s.members(links.Storage.Path)
	if err != nil {
		return nil, err
	}
	for _, path := range storages {
		var storage struct {
			ID     string `json:"Id"`
			Drives []reference
		}
		if _, err := s.get(path, &storage); err != nil {
			return nil, err
		}
		for _, d := range storage.Drives {
			l, err := s.light(d.Path)
			if err != nil {
				return nil, err
			}
			l.name = label(storage.ID + ":" + l.ID)
			all = append(all, l)
		}
	}
	return all, nil
}

// Indicators lists the lights of the chassis, the system and the drives.
func (d *Driver) Indicators(ctx context.Context, n node.Node) (all []node.Indicator, err error) {
	err = d.call(ctx, n, "list the indicators", func(s *session) error {
		lights, err := s.lights("")
		for _, l := range lights {
			all = append(all, node.Indicator{Component: l.component, Name: l.name, States: l.states()})
		}
		return err
	})
	return all, err
}

// named finds one light, by the names that Indicators gives.
func (s *session) named(n node.Node, component, name string) (light, error) {
	lights, err := s.lights(component)
	if err != nil {
		return light{}, err
	}
	i := slices.IndexFunc(lights, func(l light) bool { return l.component == component && l.name == name })
	if i < 0 {
		return light{}, node.Refuse(node.Invalid, "Unknown indicator %s for component %s of node %s", name, component, n.UUID)
	}
	return lights[i], nil
}

// IndicatorState reads the state of a light.
func (d *Driver) IndicatorState(ctx context.Context, n node.Node, component, name string) (state string, err error) {
	err = d.call(ctx, n, "read an indicator", func(s *session) error {
		l, err := s.named(n, component, name)
		if err == nil {
			state = l.state()
		}
		return err
	})
	return state, err
}

// SetIndicatorState makes a light show a state that it has.
func (d *Driver) SetIndicatorState(ctx context.Context, n node.Node, component, name, state string) error {
	return d.call(ctx, n, "set an indicator to "+state, func(s *session) error {
		l, err := s.named(n, component, name)
		if err != nil {
			return err
		}
		if !slices.Contains(l.states(), state) {
			return node.Refuse(node.Invalid, "The indicator %s of component %s shows one of %v, not %q", name, component,
				l.states(), state)
		}
		if err := s.patch(l.Path, l.change(state)); err != nil {
			return err
		}
		for look := 1; ; look++ {
			if l, err = s.light(l.Path); err != nil || !l.lit() || l.state() == state {
				return err
			}
			if look == keepLooks {
				return broken("the BMC accepts the indicator %q and does not show it: it shows %q", state, l.state())
			}
			if err := s.pause(); err != nil {
				return err
			}
		}
	})
}
