package ramdisk

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Class is one reason to have modules in a ramdisk, and which modules that is.
type Class struct {
	Name     string   // the modules' purpose
	Under    []string // every module in these folders and below, from lib/modules/<release>/kernel
	Modules  []string // single modules by name
	Except   []string // modules of the folders that are not wanted
	Required bool     // each of Modules must exist, as a module or built in; otherwise absence is a note
	Load     bool     // the agent loads Modules at start, in this order: no device's modalias names them
}

// selection holds the modules of one kernel that a profile takes.
type selection struct {
	files []string            // paths below lib/modules/<release>, sorted
	deps  map[string][]string // path to the modules it needs, the nearest first, soft dependencies included
	load  []string            // names to load at start, in order
	notes []string            // modules asked for that this kernel has not
	lists map[string]string   // modules.dep, modules.alias and modules.builtin for exactly these files
}

// selectModules picks the modules of the classes and everything they need.
func selectModules(ix *moduleIndex, classes []Class) (*selection, error) {
	s := &selection{deps: map[string][]string{}}
	var missing error
	for _, c := range classes {
		for _, file := range ix.paths {
			if underAny(file, c.Under) && !slices.Contains(c.Except, moduleName(file)) {
				missing = errors.Join(missing, s.add(ix, file))
			}
		}
		for _, name := range c.Modules {
			missing = errors.Join(missing, s.addNamed(ix, c, canonical(name)))
		}
	}
	if missing != nil {
		return nil, missing
	}
	s.files = slices.Sorted(maps.Keys(s.deps))
	s.lists = s.render(ix)
	return s, nil
}

func underAny(file string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		return strings.HasPrefix(file, path.Join("kernel", folder)+"/")
	})
}

func (s *selection) addNamed(ix *moduleIndex, c Class, name string) error {
	file, isModule := ix.byName[name]
	switch {
	case isModule:
		if c.Load {
			s.load = append(s.load, name)
		}
		return s.add(ix, file)
	case ix.builtin[name] != "":
		return nil
	case c.Required:
		return fmt.Errorf("this kernel has no module %s, needed for %s", name, c.Name)
	default:
		s.notes = append(s.notes, fmt.Sprintf("%s: this kernel has no module %s", c.Name, name))
		return nil
	}
}

// add takes a module with its closure. Each dependency gets its own line of modules.dep too.
func (s *selection) add(ix *moduleIndex, file string) error {
	if _, have := s.deps[file]; have {
		return nil
	}
	order, err := ix.loadOrder(file)
	if err != nil {
		return err
	}
	needs := slices.Clone(order[:len(order)-1])
	slices.Reverse(needs)
	s.deps[file] = needs
	for _, dep := range needs {
		if err := s.add(ix, dep); err != nil {
			return err
		}
	}
	return nil
}

// render writes the lists the agent reads, in depmod's own text formats.
func (s *selection) render(ix *moduleIndex) map[string]string {
	var dep, aliases, builtin strings.Builder
	names := map[string]bool{}
	for _, file := range s.files {
		names[moduleName(file)] = true
		fmt.Fprintln(&dep, strings.TrimRight(file+": "+strings.Join(s.deps[file], " "), " "))
	}
	for _, a := range ix.aliases {
		if names[a.module] {
			fmt.Fprintf(&aliases, "alias %s %s\n", a.pattern, a.module)
		}
	}
	for _, file := range slices.Sorted(maps.Values(ix.builtin)) {
		fmt.Fprintln(&builtin, file)
	}
	return map[string]string{"modules.dep": dep.String(), "modules.alias": aliases.String(),
		"modules.builtin": builtin.String()}
}
