package suites

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed programs.txt
var programs string

// table reads lines of a package and its programs.
func table(text string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(text) {
		if name, of, is := strings.Cut(line, ":"); is && !strings.HasPrefix(line, "#") {
			all[name] = strings.Fields(of)
		}
	}
	return all
}

// packagesOf returns the Debian packages of a suite, and of base if it has machines, or of one of the sets. The empty
// name stands for base.
func packagesOf(name string) ([]string, error) {
	if of, found := sets[name]; found {
		return strings.Fields(of), nil
	}
	s, found := Find(name)
	switch {
	case name == "" || s.Root:
		return append(strings.Fields(sets["base"]), strings.Fields(s.Packages)...), nil
	case found:
		return strings.Fields(s.Packages), nil
	}
	return nil, fmt.Errorf("suite %s has no row in lab/suites/suites.go", name)
}

// Packages returns the Debian packages of a suite that have to be there, but for those that any npm or kubectl of the
// machine stands in for.
func Packages(name string) ([]string, error) {
	all, err := packagesOf(name)
	return slices.DeleteFunc(all, func(p string) bool {
		return (p == "nodejs" || p == "npm") && there("npm") || p == "kubernetes-client" && there("/usr/bin/kubectl")
	}), err
}

// Check names the programs of a suite that this machine does not have. The suite is a target of make; "" stands for one
// without packages of its own.
func Check(suite string) error { return check(suite, there) }

func check(suite string, has func(program string) bool) error {
	packages, err := packagesOf(suite)
	if err != nil {
		return err
	}
	in := table(programs)
	var missing, lack []string
	for _, p := range packages {
		for _, program := range in[p] {
			if !has(program) {
				missing = append(missing, program)
				lack = append(lack, p)
			}
		}
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("%s is missing: install Debian's %s, as `make %s` does", strings.Join(missing, ", "),
		strings.Join(slices.Compact(lack), ", "), cmp.Or(suite, "deps"))
}

// there reports whether a program or a file exists. Root's programs are looked for in any case.
func there(program string) bool {
	if filepath.IsAbs(program) {
		_, err := os.Stat(program)
		return err == nil
	}
	for _, at := range []string{program, "/usr/sbin/" + program, "/sbin/" + program} {
		if _, err := exec.LookPath(at); err == nil {
			return true
		}
	}
	return false
}
