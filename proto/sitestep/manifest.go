package sitestep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// name is the form of names of steps and arguments.
var name = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// interfaces are those that may have steps of a site.
var interfaces = []string{"deploy", "raid"}

// priorities are the places that a step may have in each kind of run. In a deploy the
// agent runs between 41 and 99. A machine in service has a workload: nothing runs there
// by itself.
var priorities = map[string]struct{ from, to int }{
	"clean": {1, 99}, "deploy": {41, 99}, "service": {0, 0},
}

// reserved are names of the conductor's own steps, which are found under any interface.
var reserved = []string{"hold", "power_off", "power_on", "reboot", "wait"}

// Own are the steps of the agent itself: a site step cannot replace them.
var Own = []string{
	"deploy.clean_uefi_nvram", "deploy.erase_devices", "deploy.erase_devices_express", "deploy.erase_devices_metadata",
	"deploy.erase_pstore", "deploy.inject_files", "deploy.write_image", "raid.apply_configuration",
	"raid.create_configuration", "raid.delete_configuration",
}

// Parse reads a manifest and fills in its defaults. An unknown key is an error: ignoring
// it would leave out something that was asked for.
func Parse(raw []byte) (Manifest, time.Duration, error) {
	var m Manifest
	if len(raw) > maxManifest {
		return m, 0, fmt.Errorf("expected at most %d bytes, found more", maxManifest)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return Manifest{}, 0, fmt.Errorf("expected a JSON object with interface, step, priority, arguments, abortable "+
			"and timeout: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Manifest{}, 0, errors.New("expected one JSON object, found more after it")
	}
	if m.Interface == "" {
		m.Interface = "deploy"
	}
	if m.Priority == nil {
		m.Priority = map[string]int{"clean": 0, "deploy": 0, "service": 0}
	}
	if err := errors.Join(m.checkName(), m.checkPriority(), m.checkArguments()); err != nil {
		return Manifest{}, 0, err
	}
	limit, err := m.limit()
	if err != nil {
		return Manifest{}, 0, err
	}
	return m, limit, nil
}

// checkName refuses a step that could not be asked for, or that stands for another one.
func (m Manifest) checkName() error {
	switch {
	case !slices.Contains(interfaces, m.Interface):
		return fmt.Errorf("interface %q: expected %s", m.Interface, strings.Join(interfaces, " or "))
	case len(m.Step) > maxName || !name.MatchString(m.Step):
		return fmt.Errorf("step %q: expected at most %d of a-z, 0-9 and _, beginning with a letter", m.Step, maxName)
	case slices.Contains(reserved, m.Step):
		return fmt.Errorf("step %s is the conductor's own under any interface: give another name", m.Step)
	case slices.Contains(Own, m.Interface+"."+m.Step):
		return fmt.Errorf("step %s.%s is the agent's own: give another name", m.Interface, m.Step)
	}
	return nil
}

func (m Manifest) checkPriority() error {
	if len(m.Priority) == 0 {
		return errors.New("priority: expected clean, deploy or service, found none: leave the key out for all with 0")
	}
	for _, kind := range slices.Sorted(maps.Keys(m.Priority)) {
		p, known := priorities[kind]
		switch got := m.Priority[kind]; {
		case !known:
			return fmt.Errorf("priority: kind of run %q: expected clean, deploy or service", kind)
		case got == 0:
		case p.to == 0:
			return fmt.Errorf("priority %s %d: expected 0: nothing runs by itself on a machine with a workload", kind, got)
		case got < p.from || got > p.to:
			return fmt.Errorf("priority %s %d: expected 0, or %d to %d", kind, got, p.from, p.to)
		}
	}
	return nil
}

func (m Manifest) checkArguments() error {
	if len(m.Arguments) > maxArguments {
		return fmt.Errorf("arguments: expected at most %d, found %d", maxArguments, len(m.Arguments))
	}
	for _, n := range slices.Sorted(maps.Keys(m.Arguments)) {
		if len(n) > maxName || !name.MatchString(n) {
			return fmt.Errorf("argument %q: expected at most %d of a-z, 0-9 and _, beginning with a letter", n, maxName)
		}
		if d := m.Arguments[n].Description; len(d) > maxText {
			return fmt.Errorf("argument %s: expected a description of at most %d bytes, found %d", n, maxText, len(d))
		}
	}
	return nil
}

func (m Manifest) limit() (time.Duration, error) {
	if m.Timeout == "" {
		return DefaultTimeout, nil
	}
	limit, err := time.ParseDuration(m.Timeout)
	if err != nil || limit < time.Second || limit > MaxTimeout {
		return 0, fmt.Errorf("timeout %q: expected a duration of 1s to %s, as in 30m", m.Timeout, MaxTimeout)
	}
	return limit, nil
}
