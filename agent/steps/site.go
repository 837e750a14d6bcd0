package steps

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/sitestep"
)

// siteSteps are the steps that the site has put into this ramdisk.
func (m *Machine) siteSteps() ([]sitestep.Step, error) {
	all, err := sitestep.Read(m.Root)
	if err != nil {
		return nil, fmt.Errorf("%w; repair it and build the ramdisk again", err)
	}
	return all, nil
}

// listed is a site step of a kind as conductors want it.
func listed(s sitestep.Step, kind Kind) (agentapi.Step, bool) {
	priority, has := s.Priority[string(kind)]
	return agentapi.Step{Interface: s.Interface, Step: s.Step, Priority: priority, Abortable: s.Abortable,
		ArgsInfo: s.ArgsInfo()}, has
}

// Versions is hardware_manager_version. With site steps it has their hash: a plan made
// with the steps of another ramdisk must not go on.
func (m *Machine) Versions() (map[string]string, error) {
	version := Version
	site, err := m.siteSteps()
	if err != nil {
		return nil, err
	}
	if len(site) > 0 {
		raw, err := json.Marshal(site)
		if err != nil {
			return nil, fmt.Errorf("site steps: %w", err)
		}
		sum := sha256.Sum256(raw)
		version = fmt.Sprintf("%s+site.%x", Version, sum[:6])
	}
	return map[string]string{VersionManager: version}, nil
}

// executeSite does a step of the site; found is false when there is none of that name.
func (m *Machine) executeSite(ctx context.Context, kind Kind, r Request) (found bool, err error) {
	site, err := m.siteSteps()
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(site, func(s sitestep.Step) bool {
		_, has := s.Priority[string(kind)]
		return has && s.Step == r.Step.Step && (r.Step.Interface == "" || r.Step.Interface == s.Interface)
	})
	if i < 0 {
		return false, nil
	}
	if err := checkSiteArgs(site[i], r.Step.Args); err != nil {
		return true, err
	}
	input, err := siteInput(kind, site[i], r)
	if err != nil {
		return true, err
	}
	return true, m.runSite(ctx, site[i], input)
}

// checkSiteArgs refuses a step without a required argument, and with an unknown one.
func checkSiteArgs(s sitestep.Step, args map[string]any) error {
	known := slices.Sorted(maps.Keys(s.Arguments))
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(known, name) {
			return invalidStep("step %s.%s has no argument %s; /%s/%s lists %v", s.Interface, s.Step, name, sitestep.Folder,
				s.File, known)
		}
	}
	for _, name := range known {
		if _, given := args[name]; !given && s.Arguments[name].Required {
			return invalidStep("step %s.%s needs the argument %s, which is missing", s.Interface, s.Step, name)
		}
	}
	return nil
}

// siteInput is the JSON object that a program reads: its arguments, and node and ports
// as the conductor sent them.
func siteInput(kind Kind, s sitestep.Step, r Request) ([]byte, error) {
	args := r.Step.Args
	if args == nil {
		args = map[string]any{}
	}
	raw, err := json.Marshal(map[string]any{"kind": kind, "interface": s.Interface, "step": s.Step, "args": args,
		"node": r.Facts["node"], "ports": r.Facts["ports"]})
	if err != nil {
		return nil, fmt.Errorf("arguments of step %s.%s: %w", s.Interface, s.Step, err)
	}
	return append(raw, '\n'), nil
}
