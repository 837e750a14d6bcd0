package ramdisk

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// moduleIndex is depmod's index of one kernel's modules. Modules are named by their
// path below lib/modules/<release>, as modules.dep does, or by name: the file's stem
// with "-" written as "_", as the kernel does.
type moduleIndex struct {
	paths   []string            // all modules, sorted
	byName  map[string]string   // name to path
	deps    map[string][]string // path to the paths it needs, the nearest first
	soft    map[string][]string // name to the modules that modules.softdep loads before it: names or aliases
	aliases []alias             // in modules.alias's order
	builtin map[string]string   // name to the path it would have, for those compiled into the kernel
}

// alias is one line of modules.alias: devices with a modalias that matches the glob pattern want the module.
type alias struct{ pattern, module string }

// moduleName turns a module's file path into its name. Later Debian releases compress modules.
func moduleName(file string) string {
	name := path.Base(file)
	for _, suffix := range []string{".xz", ".zst", ".gz", ".ko"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return canonical(name)
}

func canonical(name string) string { return strings.ReplaceAll(name, "-", "_") }

// readIndex reads the lists of depmod (modules.dep(5), modules.softdep and
// modules.alias) in a folder lib/modules/<release>.
func readIndex(dir fs.FS) (*moduleIndex, error) {
	ix := &moduleIndex{
		byName: map[string]string{}, deps: map[string][]string{}, soft: map[string][]string{}, builtin: map[string]string{},
	}
	lists := []struct {
		file string
		line func(string) error
	}{
		{"modules.dep", ix.addDep},
		{"modules.builtin", ix.addBuiltin},
		{"modules.alias", ix.addAlias},
		{"modules.softdep", ix.addSoft},
	}
	for _, l := range lists {
		if err := eachLine(dir, l.file, l.line); err != nil {
			return nil, err
		}
	}
	slices.Sort(ix.paths)
	return ix, nil
}

func eachLine(dir fs.FS, name string, parse func(string) error) error {
	f, err := dir.Open(name)
	if err != nil {
		return fmt.Errorf("read module list: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20)
	for n := 1; scanner.Scan(); n++ {
		line := strings.TrimSpace(scanner.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := parse(line); err != nil {
			return fmt.Errorf("%s line %d: %w", name, n, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

func (ix *moduleIndex) addDep(line string) error {
	file, deps, found := strings.Cut(line, ":")
	if !found {
		return fmt.Errorf("expected `module: dependencies`, found %q", line)
	}
	ix.paths = append(ix.paths, file)
	ix.byName[moduleName(file)] = file
	ix.deps[file] = strings.Fields(deps)
	return nil
}

func (ix *moduleIndex) addBuiltin(line string) error {
	ix.builtin[moduleName(line)] = line
	return nil
}

func (ix *moduleIndex) addAlias(line string) error {
	fields := strings.Fields(line)
	if len(fields) != 3 || fields[0] != "alias" {
		return fmt.Errorf("expected `alias pattern module`, found %q", line)
	}
	ix.aliases = append(ix.aliases, alias{pattern: fields[1], module: canonical(fields[2])})
	return nil
}

// addSoft keeps only modules to load before: "post:" names are conveniences. Lines without either word have the form
// of the kernel's cifs, which names ciphers it asks for itself.
func (ix *moduleIndex) addSoft(line string) error {
	fields := strings.Fields(line)
	if len(fields) < 2 || fields[0] != "softdep" {
		return fmt.Errorf("expected `softdep module pre: ...`, found %q", line)
	}
	before := false
	for _, word := range fields[2:] {
		switch {
		case strings.HasSuffix(word, ":"):
			before = word == "pre:"
		case before:
			name := canonical(fields[1])
			ix.soft[name] = append(ix.soft[name], word)
		}
	}
	return nil
}

// loadOrder is the module at path with all it needs, in the order to load them, itself last.
func (ix *moduleIndex) loadOrder(file string) ([]string, error) {
	var order []string
	var missing error
	seen := map[string]bool{}
	var visit func(file string)
	visit = func(file string) {
		if seen[file] {
			return
		}
		seen[file] = true
		deps, known := ix.deps[file]
		if !known {
			missing = errors.Join(missing, fmt.Errorf("modules.dep names %s as a dependency but does not list it", file))
			return
		}
		for _, want := range ix.soft[moduleName(file)] {
			if soft, ok := ix.softTarget(want); ok {
				visit(soft)
			}
		}
		for _, dep := range slices.Backward(deps) {
			visit(dep)
		}
		order = append(order, file)
	}
	visit(file)
	return order, missing
}

// softTarget resolves a soft dependency, a module's name or an alias, to one module. Of
// several that offer an algorithm the generic one works on every processor. A built-in
// or unknown name needs no file.
func (ix *moduleIndex) softTarget(want string) (string, bool) {
	if file, ok := ix.byName[canonical(want)]; ok {
		return file, true
	}
	var target string
	for _, a := range ix.aliases {
		if a.pattern != want {
			continue
		}
		if ix.builtin[a.module] != "" {
			return "", false
		}
		if file := ix.byName[a.module]; file != "" && (target == "" || strings.HasSuffix(a.module, "_generic")) {
			target = file
		}
	}
	return target, target != ""
}
