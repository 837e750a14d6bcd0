package module

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Index is depmod's description of the modules of one kernel: the file of each, the
// modules it needs, the devices it serves.
type Index struct {
	folder  string              // of the kernel's modules, in the file system it was read from
	files   map[string]string   // name -> file, relative to folder
	needs   map[string][]string // file -> files, nearest first
	aliases map[string][]alias  // bus ("pci:") -> patterns
	builtin map[string]bool     // names that are part of the kernel itself
}

// alias is one line of modules.alias. The characters before the pattern's
// first wildcard are kept apart since comparing them decides nearly always.
type alias struct {
	prefix, pattern, module string
}

// maxLine bounds a line of depmod's files; modules.dep has some of kilobytes.
const maxLine = 1 << 20

// ReadIndex reads modules.dep, modules.alias and, when there, modules.builtin
// of the kernel with that release.
func ReadIndex(fsys fs.FS, release string) (*Index, error) {
	x := &Index{
		folder: path.Join("lib/modules", release),
		files:  map[string]string{}, needs: map[string][]string{},
		aliases: map[string][]alias{}, builtin: map[string]bool{},
	}
	for _, file := range []struct {
		name     string
		line     func(string)
		optional bool
	}{
		{"modules.dep", x.addDep, false},
		{"modules.alias", x.addAlias, false},
		{"modules.builtin", x.addBuiltin, true},
	} {
		err := x.readLines(fsys, file.name, file.line)
		if file.optional && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("modules of kernel %s: %w", release, err)
		}
	}
	return x, nil
}

func (x *Index) readLines(fsys fs.FS, name string, line func(string)) error {
	f, err := fsys.Open(path.Join(x.folder, name))
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read from
	return eachLine(f, line)
}

func eachLine(r io.Reader, line func(string)) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), maxLine)
	for sc.Scan() {
		if s := strings.TrimSpace(sc.Text()); s != "" && s[0] != '#' {
			line(s)
		}
	}
	return sc.Err()
}

// addDep reads "kernel/a/b.ko: kernel/c/d.ko ...".
func (x *Index) addDep(s string) {
	file, needs, ok := strings.Cut(s, ":")
	if !ok {
		return
	}
	x.files[name(file)] = file
	if fields := strings.Fields(needs); len(fields) > 0 {
		x.needs[file] = fields
	}
}

// addAlias reads "alias pci:v00008086d* e1000e".
func (x *Index) addAlias(s string) {
	fields := strings.Fields(s)
	if len(fields) != 3 || fields[0] != "alias" {
		return
	}
	pattern := fields[1]
	a := alias{prefix: pattern, pattern: pattern, module: name(fields[2])}
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		a.prefix = pattern[:i]
	}
	x.aliases[bus(pattern)] = append(x.aliases[bus(pattern)], a)
}

func (x *Index) addBuiltin(s string) { x.builtin[name(s)] = true }

// bus is the beginning of a modalias, up to and with its colon.
func bus(s string) string {
	before, _, ok := strings.Cut(s, ":")
	if !ok || strings.ContainsAny(before, "*?[") {
		return ""
	}
	return before + ":"
}

// name is a module's name as the kernel has it: without folder and ending,
// with underscores.
func name(file string) string {
	base, _, _ := strings.Cut(path.Base(file), ".ko")
	return strings.ReplaceAll(base, "-", "_")
}

// For returns the names of the modules that serve a device, in the order of
// modules.alias, each once.
func (x *Index) For(modalias string) []string {
	var names []string
	seen := map[string]bool{}
	for _, key := range []string{bus(modalias), ""} {
		for _, a := range x.aliases[key] {
			if strings.HasPrefix(modalias, a.prefix) && !seen[a.module] && match(a.pattern, modalias) {
				seen[a.module] = true
				names = append(names, a.module)
			}
		}
		if key == "" {
			break
		}
	}
	return names
}

// Builtin reports whether the module is part of the kernel.
func (x *Index) Builtin(module string) bool { return x.builtin[name(module)] }

// Closure returns the files to load for a module, in order, it itself last,
// as absolute paths.
func (x *Index) Closure(module string) ([]string, error) {
	file, ok := x.files[name(module)]
	if !ok {
		return nil, fmt.Errorf("module %s: not in %s/modules.dep", module, x.folder)
	}
	var order []string
	seen := map[string]bool{}
	var add func(string)
	add = func(file string) {
		if seen[file] {
			return
		}
		seen[file] = true // before its needs: a circle must end
		needs := x.needs[file]
		for i := len(needs) - 1; i >= 0; i-- {
			add(needs[i])
		}
		order = append(order, path.Join("/", x.folder, file))
	}
	add(file)
	return order, nil
}
